package imagefile

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// inMAAS is what MAAS 3.3 to 3.7 call the file of an uploaded image, by the file type that it was uploaded as.
var inMAAS = map[string]string{
	"tgz": "root-tgz", "tbz": "root-tbz", "txz": "root-txz",
	"ddtgz": "root-dd", "ddtbz": "root-dd.tar.bz2", "ddtxz": "root-dd.tar.xz", "ddtar": "root-dd.tar",
	"ddgz": "root-dd.gz", "ddbz2": "root-dd.bz2", "ddxz": "root-dd.xz", "ddraw": "root-dd.raw",
}

// endings are how names of images end, the longer ones first, with the file types that they mean; "" for what says nothing.
var endings = []struct{ ending, fileType string }{
	{".dd.tar.gz", "ddtgz"}, {".dd.tar.bz2", "ddtbz"}, {".dd.tar.xz", "ddtxz"}, {".dd.tar", "ddtar"},
	{".tar.gz", "tgz"}, {".tar.bz2", "tbz"}, {".tar.xz", "txz"}, {".tgz", "tgz"}, {".tbz2", "tbz"}, {".tbz", "tbz"}, {".txz", "txz"},
	{".dd.gz", "ddgz"}, {".dd.bz2", "ddbz2"}, {".dd.xz", "ddxz"}, {".img.gz", "ddgz"}, {".img.bz2", "ddbz2"}, {".img.xz", "ddxz"},
	{".raw.gz", "ddgz"}, {".raw.bz2", "ddbz2"}, {".raw.xz", "ddxz"}, {".dd", "ddraw"}, {".img", "ddraw"}, {".raw", "ddraw"},
	{".qcow2", ""}, {".vmdk", ""}, {".vhd", ""}, {".ova", ""}, {".tar", ""}, {".tar.zst", ""}, {".gz", ""}, {".bz2", ""}, {".xz", ""}, {".zst", ""},
}

// endingOf returns how the name of an image ends, and what file type that means.
func endingOf(name string) (ending, fileType string) {
	lower := strings.ToLower(name)
	for _, e := range endings {
		if strings.HasSuffix(lower, e.ending) && len(name) > len(e.ending) {
			return e.ending, e.fileType
		}
	}
	return "", ""
}

// GuessFileType returns MAAS's file type for an image by the name of its file, such as tgz for a root file system in a .tar.gz and ddgz for a
// disk in a .dd.gz; "" where the name does not tell. It is an error if MAAS takes no files of that kind.
func GuessFileType(path string) (string, error) {
	ending, fileType := endingOf(filepath.Base(path))
	if slices.Contains([]string{".qcow2", ".vmdk", ".vhd", ".ova"}, ending) {
		return "", fmt.Errorf("MAAS does not take %s files: make a raw disk of it (qemu-img convert -O raw), compress it with gzip, and call it .dd.gz", ending)
	}
	return fileType, nil
}

// FileTypes are MAAS's file types, in one line for people.
func FileTypes() string { return strings.Join(slices.Sorted(maps.Keys(inMAAS)), ", ") }
