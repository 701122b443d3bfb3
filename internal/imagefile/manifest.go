package imagefile

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Manifest describes an image. It is a JSON file beside the image, at [ManifestPath].
type Manifest struct {
	Name              string           `json:"name"` // of the boot resource, such as custom/debian-12-k8s-v1.36.3
	Title             string           `json:"title"`
	Architecture      string           `json:"architecture"`        // MAAS's, such as amd64/generic
	BaseImage         string           `json:"baseImage,omitempty"` // the system that MAAS takes it for, such as ubuntu/jammy; "" for that of commissioning
	FileType          string           `json:"fileType"`            // MAAS's, such as tgz
	File              string           `json:"file"`                // name of the image, beside the manifest
	Size              int64            `json:"size"`                // bytes
	UnpackedSize      int64            `json:"unpackedSize"`        // bytes
	SHA256            string           `json:"sha256"`              // of the image, in hex
	KubernetesVersion string           `json:"kubernetesVersion"`
	Binaries          string           `json:"binaries"` // where the programs come from: source or release
	BuildSeconds      float64          `json:"buildSeconds"`
	Packages          []Package        `json:"packages"`
	Programs          []Program        `json:"programs"`
	ContainerImages   []ContainerImage `json:"containerImages"`
}

// Package is a Debian package that is installed in the image.
type Package struct {
	Name         string `json:"name"`
	Version      string `json:"version"`
	Architecture string `json:"architecture"`
	InstalledKiB int64  `json:"installedKiB"`
}

// Program is a program in the image that no package brought.
type Program struct {
	Path    string `json:"path"` // in the image
	Version string `json:"version"`
	Size    int64  `json:"size"`   // bytes
	SHA256  string `json:"sha256"` // in hex
}

// ContainerImage is a container image that machines need not pull.
type ContainerImage struct {
	Name   string `json:"name"`
	Digest string `json:"digest"` // sha256:…
	Size   int64  `json:"size"`   // bytes
}

const manifestEnding = ".manifest.json"

// ManifestPath returns where the manifest of an image is: foo.manifest.json for foo.tar.gz.
func ManifestPath(image string) string {
	if ending, _ := endingOf(filepath.Base(image)); ending != "" {
		image = image[:len(image)-len(ending)]
	}
	return image + manifestEnding
}

// Read returns the manifest in a file. It is an error if fields are missing that an upload needs; one that wraps [fs.ErrNotExist] if there is
// no such file.
func Read(path string) (Manifest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Manifest{}, fmt.Errorf("read the manifest: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("%s is not a manifest of an image: %w", path, err)
	}
	if err := m.check(); err != nil {
		return Manifest{}, fmt.Errorf("%s is not a whole manifest: %w", path, err)
	}
	return m, nil
}

// Write puts the manifest into a file, which is there whole or not at all.
func (m Manifest) Write(path string) error {
	if err := m.check(); err != nil {
		return fmt.Errorf("the manifest for %s is not whole: %w", path, err)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(m); err != nil {
		return fmt.Errorf("encode the manifest: %w", err)
	}
	scratch := path + ".new"
	err := os.WriteFile(scratch, text.Bytes(), 0o644)
	if err == nil {
		err = os.Rename(scratch, path)
	}
	if err != nil {
		_ = os.Remove(scratch) // it may not be there
		return fmt.Errorf("write the manifest: %w", err)
	}
	return nil
}

// check says what is missing or wrong.
func (m Manifest) check() error {
	wrong := m.wrongWords()
	switch digest, err := hex.DecodeString(m.SHA256); {
	case m.SHA256 == "":
		wrong = append(wrong, "sha256 is not set")
	case err != nil || len(digest) != 32:
		wrong = append(wrong, "sha256 is not 64 hexadecimal digits")
	}
	if m.Size < 1 {
		wrong = append(wrong, "size is not a number of bytes")
	}
	if m.File == "" || m.File != filepath.Base(m.File) || !fs.ValidPath(m.File) {
		wrong = append(wrong, "file is not the name of a file beside the manifest")
	}
	return oneLine(wrong)
}

// checkWords looks at what MAAS has to be told, and not at the file.
func (m Manifest) checkWords() error { return oneLine(m.wrongWords()) }

func (m Manifest) wrongWords() []string {
	var wrong []string
	for _, field := range []struct{ name, value string }{{"name", m.Name}, {"architecture", m.Architecture}, {"fileType", m.FileType}} {
		if field.value == "" {
			wrong = append(wrong, field.name+" is not set")
		}
	}
	if m.Name != "" && !isName(m.Name) {
		wrong = append(wrong, fmt.Sprintf("%q is not a name that MAAS takes: custom/ and up to %d characters, with no other slash and no space in them", m.Name, longestName))
	}
	if m.FileType != "" && inMAAS[m.FileType] == "" {
		wrong = append(wrong, fmt.Sprintf("%q is not a file type that MAAS takes (%s)", m.FileType, FileTypes()))
	}
	return wrong
}

// longestName is how many characters a name may have; with the 7 of custom/, MAAS takes 255.
const longestName = 248

// isName says whether MAAS takes a name and keeps it as it is. MAAS 3.3 to 3.7: more slashes are an error 500, which does not say what is
// wrong, and spaces around a name are dropped. Which systems and names are taken, MAAS says.
func isName(name string) bool {
	system, series, prefixed := strings.Cut(name, "/")
	if !prefixed {
		system, series = "custom", name
	}
	return system != "" && series != "" && !strings.Contains(series, "/") && utf8.RuneCountInString(series) <= longestName &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
}

func oneLine(wrong []string) error {
	if len(wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(wrong, ", "))
}
