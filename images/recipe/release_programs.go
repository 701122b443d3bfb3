package recipe

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// downloading is a step that downloads files and puts the programs in them in place.
func (r *Recipe) downloading(name, title string, files []released) build.Step {
	step := build.Step{Name: name, Title: title + ", as released", Lane: build.Compiling}
	for _, file := range files {
		step.Facts = append(step.Facts, file.url, file.sums)
		step.Outputs = append(step.Outputs, file.outputs()...)
	}
	step.Run = func(ctx context.Context, s *build.Session) error {
		dir, remove, err := s.Scratch()
		if err != nil {
			return err
		}
		defer remove()
		for _, file := range files {
			if err := r.downloader(s).install(ctx, file, dir); err != nil {
				return err
			}
		}
		return nil
	}
	return step
}

func (r *Recipe) downloader(s *build.Session) downloader {
	return downloader{
		client: &http.Client{Transport: impatient{http.DefaultTransport, longestSilence}},
		cache:  r.releaseCache(),
		progress: func(file string, done, total int64) {
			const megabyte = 1_000_000
			if total < 0 {
				s.Progress("%s: %d MB", file, done/megabyte)
				return
			}
			s.Progress("%s: %d of %d MB", file, done/megabyte, total/megabyte)
		},
	}
}

// releaseCache is the folder of what was downloaded, or a place in it.
func (r *Recipe) releaseCache(name ...string) string {
	return r.Path(append([]string{"cache", "release"}, name...)...)
}

// install downloads a file and puts its programs in place; dir is an empty folder on the same disk.
func (d downloader) install(ctx context.Context, file released, dir string) error {
	downloaded, err := d.get(ctx, file.url, file.sums)
	if err != nil {
		return err
	}
	if file.program != "" {
		return putProgram(downloaded, file.program)
	}
	if err := unpackPrograms(downloaded, dir, slices.Collect(maps.Keys(file.place))); err != nil {
		return fmt.Errorf("unpacking %s: %w", filepath.Base(downloaded), err)
	}
	for name, target := range file.place {
		if err := putProgram(filepath.Join(dir, path.Base(name)), target); err != nil {
			return err
		}
	}
	return nil
}

// putProgram makes target another name of a file, in the place of what had that name.
func putProgram(file, target string) error {
	if err := os.Chmod(file, 0o755); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	temporary := target + ".new"
	if err := os.RemoveAll(temporary); err != nil {
		return err
	}
	if err := os.Link(file, temporary); err != nil {
		return err
	}
	return os.Rename(temporary, target)
}

// unpackPrograms takes the files of these names out of a compressed archive. They get the last parts of their names.
func unpackPrograms(archive, dir string, names []string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	content, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	missing := slices.Sorted(slices.Values(names))
	for entries := tar.NewReader(content); len(missing) > 0; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s is not in it", strings.Join(missing, ", "))
		}
		if err != nil {
			return err
		}
		i := slices.Index(missing, path.Clean(header.Name))
		if i < 0 || header.Typeflag != tar.TypeReg {
			continue
		}
		if err := writeProgram(filepath.Join(dir, path.Base(header.Name)), entries); err != nil {
			return err
		}
		missing = slices.Delete(missing, i, i+1)
	}
	return nil
}

func writeProgram(target string, content io.Reader) error {
	out, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, content); err != nil {
		return errors.Join(err, out.Close())
	}
	return out.Close()
}
