package recipe

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
)

// describe adds to a manifest what is in the image.
func (r *Recipe) describe(m *imagefile.Manifest) error {
	status, err := os.ReadFile(r.parts("root", "var", "lib", "dpkg", "status"))
	if err != nil {
		return fmt.Errorf("listing the packages of the image: %w", err)
	}
	m.Packages = installedPackages(string(status))
	if m.Programs, err = r.describePrograms(); err != nil {
		return fmt.Errorf("listing the programs of the image: %w", err)
	}
	if m.ContainerImages, err = describeContainerImages(r.parts("container-images.tar")); err != nil {
		return fmt.Errorf("listing the container images of the image: %w", err)
	}
	return nil
}

// installedPackages reads dpkg's list: paragraphs of fields.
func installedPackages(status string) []imagefile.Package {
	var packages []imagefile.Package
	for paragraph := range strings.SplitSeq(status, "\n\n") {
		fields := make(map[string]string)
		for line := range strings.Lines(paragraph) {
			if key, value, found := strings.Cut(line, ": "); found && !strings.HasPrefix(line, " ") {
				fields[key] = strings.TrimSpace(value)
			}
		}
		if !strings.HasSuffix(fields["Status"], " installed") {
			continue
		}
		// A package without files states no size.
		size, _ := strconv.ParseInt(fields["Installed-Size"], 10, 64)
		packages = append(packages, imagefile.Package{
			Name: fields["Package"], Version: fields["Version"], Architecture: fields["Architecture"], InstalledKiB: size,
		})
	}
	slices.SortFunc(packages, func(a, b imagefile.Package) int { return strings.Compare(a.Name, b.Name) })
	return packages
}

func (r *Recipe) describePrograms() ([]imagefile.Program, error) {
	programs, err := r.nodePrograms()
	if err != nil {
		return nil, err
	}
	var out []imagefile.Program
	for _, program := range programs {
		size, sum, err := measure(program.from)
		if err != nil {
			return nil, err
		}
		out = append(out, imagefile.Program{Path: "/" + program.to, Version: program.version, Size: size, SHA256: sum})
	}
	return out, nil
}

// measure gives the size of a file and its sha256, in hex.
func measure(path string) (size int64, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// describeContainerImages lists the images of an archive, each with the digest of its configuration, which is what crictl calls the
// image's ID, and the bytes of its layers.
func describeContainerImages(archive string) ([]imagefile.ContainerImage, error) {
	images, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(archive) })
	if err != nil {
		return nil, err
	}
	sizes, err := sizesIn(archive)
	if err != nil {
		return nil, err
	}
	var out []imagefile.ContainerImage
	for _, image := range images {
		var size int64
		for _, layer := range image.Layers {
			size += sizes[layer]
		}
		for _, tag := range image.RepoTags {
			digest := "sha256:" + strings.TrimPrefix(strings.TrimSuffix(filepath.Base(image.Config), ".json"), "sha256:")
			out = append(out, imagefile.ContainerImage{Name: tag, Digest: digest, Size: size})
		}
	}
	slices.SortFunc(out, func(a, b imagefile.ContainerImage) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func sizesIn(archive string) (map[string]int64, error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sizes := make(map[string]int64)
	for r := tar.NewReader(f); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return sizes, nil
		}
		if err != nil {
			return nil, err
		}
		sizes[header.Name] = header.Size
	}
}
