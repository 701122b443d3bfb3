package build

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// fingerprints computes, for every step, a digest of all it is made from: its own inputs and those of the steps it
// needs. It reads no outputs, so it is known before anything runs.
func fingerprints(steps []Step) (map[string]string, error) {
	prints := make(map[string]string, len(steps))
	for _, s := range steps {
		h := sha256.New()
		fmt.Fprintln(h, "toolchain", runtime.Version(), runtime.GOARCH)
		for _, fact := range s.Facts {
			fmt.Fprintln(h, "fact", fact)
		}
		for _, need := range s.Needs {
			fmt.Fprintln(h, "step", need, prints[need])
		}
		for _, path := range s.Files {
			if err := addTree(h, path, s.Keep); err != nil {
				return nil, fmt.Errorf("reading what %s is made from: %w", s.Title, err)
			}
		}
		prints[s.Name] = hex.EncodeToString(h.Sum(nil))
	}
	return prints, nil
}

// addTree adds the names, permissions and contents of all files at or under root. A root that is missing counts as empty.
func addTree(h io.Writer, root string, keep func(string) bool) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			if path == root && errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if entry.IsDir() {
			if path != root && (strings.HasPrefix(entry.Name(), "_") || entry.Name() == ".git") {
				return filepath.SkipDir
			}
			return nil
		}
		if keep != nil && !keep(path) {
			return nil
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return addFile(h, path, relative, entry)
	})
}

func addFile(h io.Writer, path, name string, entry fs.DirEntry) error {
	if entry.Type()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		fmt.Fprintf(h, "link %q %q\n", name, target)
		return err
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	// Whether a file may be run is all that git keeps of its permissions.
	fmt.Fprintf(h, "file %q %d %t\n", name, info.Size(), info.Mode()&0o100 != 0)
	_, err = io.Copy(h, f)
	return err
}

// A stamp says what a step was last made from, and how many seconds that took.
type stamp struct {
	fingerprint string
	seconds     float64
}

func (p *Project) readStamp(step string) (stamp, error) {
	var last stamp
	content, err := os.ReadFile(p.Path(".stamps", step))
	if err != nil {
		return last, err
	}
	_, err = fmt.Sscan(string(content), &last.fingerprint, &last.seconds)
	return last, err
}

// current says whether the step was last made from exactly this and its outputs are still there.
func (p *Project) current(s Step, fingerprint string) bool {
	last, err := p.readStamp(s.Name)
	if err != nil || last.fingerprint != fingerprint {
		return false
	}
	for _, output := range s.Outputs {
		// Not what a link leads to: in the machines' root, that is another place when seen from outside.
		if _, err := os.Lstat(output); err != nil {
			return false
		}
	}
	return s.Whole == nil || s.Whole()
}

// stamp records that the step is current. It is removed before a step starts, so an interrupted one runs again.
func (p *Project) stamp(s Step, made stamp) error {
	return ReplaceFile(p.Path(".stamps", s.Name), fmt.Appendf(nil, "%s %.1f\n", made.fingerprint, made.seconds), 0o644)
}

func (p *Project) unstamp(s Step) error {
	if err := os.Remove(p.Path(".stamps", s.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Took is how long those steps took when they were last run, one after the other. A step that never ran took no time.
func (p *Project) Took(steps ...string) time.Duration {
	var seconds float64
	for _, name := range steps {
		if last, err := p.readStamp(name); err == nil {
			seconds += last.seconds
		}
	}
	return time.Duration(seconds * float64(time.Second))
}
