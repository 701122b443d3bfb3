package recipe

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layerFile is a file, a link or a folder of an image.
type layerFile struct {
	path   string // in the image, without a leading slash
	source string // file to take the content from, or
	link   string // target of a symbolic link; neither means a folder
	mode   int64  // permissions of a folder
}

// newLayer packs files into a layer. The same files make the same layer, byte for byte, whatever their order, dates and
// owners. It is not compressed: it never travels over a network.
func newLayer(files []layerFile) (v1.Layer, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b layerFile) int { return strings.Compare(a.path, b.path) })
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	written := make(map[string]bool)
	for _, f := range files {
		if written[f.path] {
			continue
		}
		if err := writeFolders(w, path.Dir(f.path), written); err != nil {
			return nil, err
		}
		written[f.path] = true
		if err := writeEntry(w, f); err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.path, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return static.NewLayer(content.Bytes(), types.DockerUncompressedLayer), nil
}

func writeFolders(w *tar.Writer, folder string, written map[string]bool) error {
	if folder == "." || written[folder] {
		return nil
	}
	if err := writeFolders(w, path.Dir(folder), written); err != nil {
		return err
	}
	written[folder] = true
	return writeEntry(w, layerFile{path: folder, mode: 0o755})
}

func writeEntry(w *tar.Writer, f layerFile) error {
	switch {
	case f.link != "":
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: f.path, Linkname: f.link, Mode: 0o777, Format: tar.FormatPAX})
	case f.source == "":
		return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: f.path + "/", Mode: f.mode, Format: tar.FormatPAX})
	}
	source, err := os.Open(f.source)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: f.path, Size: info.Size(), Mode: int64(info.Mode().Perm()), Format: tar.FormatPAX}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(w, source)
	return err
}
