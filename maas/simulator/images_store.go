package simulator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// imageStore keeps uploaded content in a folder: one file per sha256, named
// for it, and files whose upload is not complete under names of their own.
// Without a folder it keeps nothing.
type imageStore struct{ dir string }

const (
	incompleteSuffix = ".incomplete"
	// staleAfter is how old an incomplete file is that an earlier process left.
	// One that is younger may belong to a region that runs.
	staleAfter = 24 * time.Hour
)

// newImageStore makes the folder if it is not there, and removes what uploads
// left in it that were never completed.
func newImageStore(dir string) (*imageStore, error) {
	if dir == "" {
		return &imageStore{}, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("imageDir: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("imageDir: %w", err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !strings.HasSuffix(entry.Name(), incompleteSuffix) || time.Since(info.ModTime()) < staleAfter {
			continue
		}
		if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("imageDir: %w", err)
		}
	}
	return &imageStore{dir: dir}, nil
}

// write puts a chunk at its place in an incomplete file and returns the file's
// path; an empty path begins a new file.
func (s *imageStore) write(path string, at int64, chunk []byte) (string, error) {
	if s.dir == "" {
		return "", nil
	}
	file, err := s.open(path)
	if err != nil {
		return path, fmt.Errorf("store a chunk: %w", err)
	}
	_, err = file.WriteAt(chunk, at)
	if err := errors.Join(err, file.Close()); err != nil {
		return file.Name(), fmt.Errorf("store a chunk: %w", err)
	}
	return file.Name(), nil
}

func (s *imageStore) open(path string) (*os.File, error) {
	if path == "" {
		return os.CreateTemp(s.dir, "upload-*"+incompleteSuffix)
	}
	return os.OpenFile(path, os.O_WRONLY, 0)
}

// keep gives complete content its name. What was there under it is the same.
func (s *imageStore) keep(partial, sha string) error {
	if s.dir == "" {
		return nil
	}
	if err := os.Rename(partial, s.path(sha)); err != nil {
		return fmt.Errorf("keep an image: %w", err)
	}
	return nil
}

// path is where content is kept; empty when it is not.
func (s *imageStore) path(sha string) string {
	if s.dir == "" || sha == "" {
		return ""
	}
	return filepath.Join(s.dir, sha)
}

// drop removes an incomplete file.
func (s *imageStore) drop(partial string) {
	if partial != "" {
		_ = os.Remove(partial) // it only takes up space
	}
}

// forget removes content that nothing needs any more.
func (s *imageStore) forget(sha string) { s.drop(s.path(sha)) }
