package archive

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// folders are the open folders from the root of an unpacked tree to the one that is worked in. Each is opened by its name in the one
// above, and never through a symbolic link, so no archive can lead us elsewhere. Archives are sorted, so most folders are
// opened once.
type folders struct {
	open []folder // the first is the root
}

type folder struct {
	name string // within the one above
	fd   int
}

func openFolders(root string) (*folders, error) {
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", root, err)
	}
	return &folders{open: []folder{{fd: fd}}}, nil
}

func (f *folders) close() {
	f.closeBelow(0)
}

func (f *folders) closeBelow(depth int) {
	for len(f.open) > depth {
		_ = unix.Close(f.open[len(f.open)-1].fd)
		f.open = f.open[:len(f.open)-1]
	}
}

// enter opens a folder below the root. Those on the way that are missing are made, if asked for; they belong to nobody else until
// their own entry says so.
func (f *folders) enter(name string, create bool) (fd int, err error) {
	var parts []string
	if name != "." {
		parts = strings.Split(name, "/")
	}
	depth := 1
	for depth < len(f.open) && depth <= len(parts) && f.open[depth].name == parts[depth-1] {
		depth++
	}
	f.closeBelow(depth)
	for _, part := range parts[depth-1:] {
		above := f.open[len(f.open)-1].fd
		fd, err := openBelow(above, part)
		if create && errors.Is(err, unix.ENOENT) {
			if err = unix.Mkdirat(above, part, 0o755); err == nil {
				fd, err = openBelow(above, part)
			}
		}
		if err != nil {
			return 0, err
		}
		f.open = append(f.open, folder{name: part, fd: fd})
	}
	return f.open[len(f.open)-1].fd, nil
}

var errNoFolder = errors.New("a part of its name is no folder but a file or a symbolic link")

func openBelow(above int, name string) (int, error) {
	fd, err := unix.Openat(above, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return 0, errNoFolder
	}
	return fd, err
}

// parent enters the folder that holds name, and gives name's last part.
func (f *folders) parent(name string, create bool) (fd int, base string, err error) {
	fd, err = f.enter(path.Dir(name), create)
	return fd, path.Base(name), err
}
