package recipe

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestALayerIsTheSameWhateverTheOrderAndTheDates(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "program")
	write(t, source, "content")
	files := []layerFile{{path: "usr/bin/b", source: source}, {path: "usr/bin/a", link: "b"}, {path: "tmp", mode: 0o1777}}
	first, err := newLayer(files)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(files)
	long := time.Unix(1, 0)
	if err := os.Chtimes(source, long, long); err != nil {
		t.Fatal(err)
	}
	second, err := newLayer(append(files, files[0]))
	if err != nil {
		t.Fatal(err)
	}
	one, _ := first.Digest()
	other, _ := second.Digest()
	if one != other {
		t.Errorf("%s and %s", one, other)
	}
	content, err := first.Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(content); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
	}
	if want := "tmp/ usr/ usr/bin/ usr/bin/a usr/bin/b"; strings.Join(names, " ") != want {
		t.Errorf("entries %v, want %s", names, want)
	}
}
