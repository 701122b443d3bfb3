package host

import (
	"bytes"
	"io"
	"os"
	"strings"
)

// End reads the last bytes of a file, from the beginning of a line if there is one.
func End(path string, window int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	cut := info.Size() > window
	if cut {
		if _, err := file.Seek(-window, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	text, err := io.ReadAll(file)
	if _, whole, found := bytes.Cut(text, []byte("\n")); cut && found {
		text = whole
	}
	return text, err
}

// Tail returns the last lines of a log, each indented; a note when there is nothing.
func Tail(path string, lines int) string {
	text, err := End(path, 16<<10)
	text = bytes.TrimSpace(text)
	switch {
	case err != nil:
		return "  (no log)"
	case len(text) == 0:
		return "  (empty)"
	}
	all := strings.Split(string(text), "\n")
	return "  " + strings.Join(all[max(len(all)-lines, 0):], "\n  ")
}
