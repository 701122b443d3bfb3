package management

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
	"github.com/capmaas/cluster-api-provider-maas/images/recipe"
	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
)

// Image is the machine image that the sandbox brings into its MAAS, and makes its cluster with.
type Image struct {
	// File is its path, with a manifest beside it.
	File string `json:"file"`
	// Name of the boot resource, such as custom/debian-12-k8s-v1.36.3.
	Name string `json:"name"`
	// KubernetesVersion is that of the programs in it.
	KubernetesVersion string `json:"kubernetesVersion"`
	SHA256            string `json:"sha256"`
	// Size of the file, and of the files in it, in bytes.
	Size         int64 `json:"size"`
	UnpackedSize int64 `json:"unpackedSize"`
}

// BuiltImage is the image that was built, with the version of Kubernetes that is built when none is asked for. It is an error that wraps
// [fs.ErrNotExist] if there is none.
func BuiltImage(l host.Layout) (Image, error) {
	file := recipe.File(l.Build, recipe.DefaultVersion(&build.Project{Repo: l.Root, Out: l.Build}))
	m, err := imagefile.Read(imagefile.ManifestPath(file))
	if errors.Is(err, fs.ErrNotExist) {
		return Image{}, fmt.Errorf("there is no machine image (make image makes it): %w", err)
	}
	if err != nil {
		return Image{}, fmt.Errorf("%w\n%s", err, makeAnew(file))
	}
	if m.Binaries == recipe.BinariesRelease {
		return Image{}, fmt.Errorf("the machine image %s was made with released binaries (its manifest says so), and the sandbox's pod network is not in such a one\n%s",
			file, makeAnew(file))
	}
	return Image{
		File: file, Name: m.Name, KubernetesVersion: m.KubernetesVersion, SHA256: m.SHA256, Size: m.Size, UnpackedSize: m.UnpackedSize,
	}, nil
}

// makeAnew says how somebody gets rid of an image that cannot be used. The build only looks whether the files are there.
func makeAnew(file string) string {
	return fmt.Sprintf("make the image anew: rm %s %s && make image", file, imagefile.ManifestPath(file))
}

// between is how long nothing is told of something that takes long.
const between = 3 * time.Second

// stock brings the machine image into MAAS, as a user does, and has it unpacked, so that the first machine need not wait for that.
func (d *Daemon) stock(ctx context.Context) error {
	image := d.settings.Image
	manifest, err := imagefile.Read(imagefile.ManifestPath(image.File))
	if err != nil {
		return err
	}
	if manifest.SHA256 != image.SHA256 {
		return fmt.Errorf("the image %s was made anew while the sandbox started: start the sandbox again", image.File)
	}
	client, err := maas.New(maas.Config{Endpoint: regionURL, APIKey: d.apiKey, UserAgent: "capmaas-sandbox"})
	if err != nil {
		return fmt.Errorf("connecting to the MAAS region: %w", err)
	}
	begin := time.Now()
	result, err := imagefile.Upload(ctx, client, image.File, manifest, d.sometimes("uploading "+image.Name+" to MAAS"))
	if err != nil {
		if manifest.Check(ctx, image.File, nil) != nil {
			err = fmt.Errorf("%w\n%s", err, makeAnew(image.File))
		}
		return fmt.Errorf("uploading %s to the MAAS region: %w", image.File, err)
	}
	d.reporter.note("MAAS has the image %s (sha256 %.12s…, %d MB, uploaded in %s)", image.Name, result.SHA256, manifest.Size/1e6, seconds(begin))
	begin = time.Now()
	unpacking := d.sometimes("unpacking it for the machines")
	waited := false
	// What MAAS has, and nobody else changes.
	uploaded := filepath.Join(d.images(), result.SHA256)
	if _, err := d.roots.Get(ctx, uploaded, result.SHA256, func(done, total int64) { waited = true; unpacking(done, total) }); err != nil {
		return fmt.Errorf("unpacking %s: %w", image.File, err)
	}
	if waited {
		d.reporter.note("the image is unpacked, after %s", seconds(begin))
	}
	return nil
}

// sometimes tells now and then how far something is.
func (d *Daemon) sometimes(what string) func(done, total int64) {
	last := time.Now()
	return func(done, total int64) {
		if time.Since(last) < between {
			return
		}
		last = time.Now()
		d.reporter.note("%s: %d of %d MB", what, done/1e6, total/1e6)
	}
}

func seconds(since time.Time) time.Duration { return time.Since(since).Round(100 * time.Millisecond) }
