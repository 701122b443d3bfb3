package recipe

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// netfilterFiles picks out of a Debian root file system what a container needs to run iptables, nft and conntrack:
// the programs, their extensions, and all libraries that any of them loads.
func netfilterFiles(root string) ([]layerFile, error) {
	libraries, err := libraryFolder(root)
	if err != nil {
		return nil, err
	}
	c := &collector{root: root, libraries: libraries, seen: make(map[string]bool)}
	for _, program := range []string{"usr/sbin/xtables-nft-multi", "usr/sbin/nft", "usr/sbin/conntrack"} {
		if err := c.add(program); err != nil {
			return nil, err
		}
	}
	extensions := path.Join(libraries, "xtables")
	entries, err := os.ReadDir(filepath.Join(root, extensions))
	if err != nil {
		return nil, fmt.Errorf("finding the extensions of iptables: %w", err)
	}
	for _, entry := range entries {
		if err := c.add(path.Join(extensions, entry.Name())); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"iptables", "iptables-save", "iptables-restore", "ip6tables", "ip6tables-save", "ip6tables-restore"} {
		c.files = append(c.files, layerFile{path: "usr/sbin/" + name, link: "xtables-nft-multi"})
	}
	return c.files, nil
}

// libraryFolder is where Debian keeps the libraries of this architecture.
func libraryFolder(root string) (string, error) {
	found, err := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu*"))
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%s has %d folders of libraries, not one", root, len(found))
	}
	return "usr/lib/" + filepath.Base(found[0]), nil
}

// collector gathers binaries with the libraries they name, each once.
type collector struct {
	root, libraries string
	files           []layerFile
	seen            map[string]bool
}

// add takes a file and, if it is a binary, its loader and libraries. A link is taken as the file it leads to.
func (c *collector) add(name string) error {
	if c.seen[name] {
		return nil
	}
	c.seen[name] = true
	source, err := resolveIn(c.root, name)
	if err != nil {
		return err
	}
	c.files = append(c.files, layerFile{path: name, source: source})
	binary, err := elf.Open(source)
	if err != nil {
		var notBinary *elf.FormatError
		if errors.As(err, &notBinary) {
			return nil
		}
		return err
	}
	defer func() { _ = binary.Close() }()
	if err := c.addLoader(binary); err != nil {
		return err
	}
	needed, err := binary.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("reading which libraries %s needs: %w", name, err)
	}
	for _, library := range needed {
		if err := c.addLibrary(library); err != nil {
			return fmt.Errorf("%s needs %s: %w", name, library, err)
		}
	}
	return nil
}

func (c *collector) addLibrary(library string) error {
	name := path.Join(c.libraries, library)
	if _, err := os.Stat(filepath.Join(c.root, name)); errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(library, "ld-linux") {
		// The loader itself: it lies where the binaries' headers say, and is added for them.
		return nil
	}
	return c.add(name)
}

func (c *collector) addLoader(binary *elf.File) error {
	for _, part := range binary.Progs {
		if part.Type != elf.PT_INTERP {
			continue
		}
		raw := make([]byte, part.Filesz)
		if _, err := part.ReadAt(raw, 0); err != nil {
			return fmt.Errorf("reading the name of the loader: %w", err)
		}
		return c.add(strings.TrimLeft(strings.TrimRight(string(raw), "\x00"), "/"))
	}
	return nil
}

// resolveIn follows symbolic links as a program does whose root folder is root, and returns the path outside.
func resolveIn(root, name string) (string, error) {
	const mostLinks = 40
	rest, resolved := strings.Split(path.Clean("/" + name)[1:], "/"), "/"
	for links := 0; len(rest) > 0; {
		next := path.Join(resolved, rest[0])
		rest = rest[1:]
		target, err := os.Readlink(filepath.Join(root, next))
		if errors.Is(err, syscall.EINVAL) {
			resolved = next
			continue
		}
		if err != nil {
			return "", err
		}
		if links++; links > mostLinks {
			return "", fmt.Errorf("%s: too many symbolic links", name)
		}
		if !path.IsAbs(target) {
			target = path.Join(resolved, target)
		}
		rest = append(strings.Split(path.Clean(target)[1:], "/"), rest...)
		resolved = "/"
	}
	return filepath.Join(root, resolved), nil
}
