package management

import (
	"bytes"
	"io"
	"os"
	"strings"
)

// Tail returns the last lines of a file, each indented; a note when there is nothing.
func Tail(path string, lines int) string {
	const window = 16 << 10
	file, err := os.Open(path)
	if err != nil {
		return "  (no log)"
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > window {
		if _, err := file.Seek(-window, io.SeekEnd); err != nil {
			return "  (no log)"
		}
	}
	text, err := io.ReadAll(file)
	text = bytes.TrimSpace(text)
	if err != nil || len(text) == 0 {
		return "  (empty)"
	}
	all := strings.Split(string(text), "\n")
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return "  " + strings.Join(all, "\n  ")
}
