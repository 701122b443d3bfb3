package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// InitCommand is the command of this program that is the life of a sandbox's first process, with --root, --dir and --build-dir after it.
const InitCommand = "internal-init"

// Others finds the sandboxes of other folders that run on this machine, by their first processes' command lines.
func Others(l Layout) []Layout {
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil
	}
	var out []Layout
	for _, path := range paths {
		// Processes come and go while we look.
		line, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		other, ok := sandboxOf(string(line))
		if ok && other.State != l.State && firstOfNamespace(filepath.Dir(path)) && !slices.Contains(out, other) {
			out = append(out, other)
		}
	}
	return out
}

// sandboxOf reads from the command line of a first process, words ended by zeros, whose sandbox it is.
func sandboxOf(cmdline string) (Layout, bool) {
	words := strings.Split(cmdline, "\x00")
	if len(words) < 2 || words[1] != InitCommand {
		return Layout{}, false
	}
	var l Layout
	for i := 2; i+1 < len(words); i += 2 {
		switch words[i] {
		case "--root":
			l.Root = words[i+1]
		case "--dir":
			l.State = words[i+1]
		case "--build-dir":
			l.Build = words[i+1]
		}
	}
	return l, l.State != ""
}

// Crowded adds to an error about what this machine lacks which other sandboxes take of it, and how to stop them.
func Crowded(l Layout, err error) error {
	if err == nil {
		return nil
	}
	failed := []error{err}
	for _, other := range Others(l) {
		failed = append(failed, fmt.Errorf("another sandbox runs on this machine, in %s; stop it with: %s", other.State, other.commandFromElsewhere("down")))
	}
	return errors.Join(failed...)
}
