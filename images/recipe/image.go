package recipe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/images/archive"
	"github.com/capmaas/cluster-api-provider-maas/images/build"
	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
)

// image packs the root file system, and says in a manifest beside the file what is in it.
func (r *Recipe) image() build.Step {
	file := r.File()
	return build.Step{
		Name:    r.name(imageStep),
		Title:   "machine image with Kubernetes " + r.version,
		Lane:    build.Assembling,
		Needs:   []string{r.name(rootStep)},
		Files:   []string{r.code(), r.Source("images", "archive")},
		Keep:    build.NotTest,
		Outputs: []string{file, imagefile.ManifestPath(file)},
		Whole:   func() bool { return isWhole(file) },
		Root:    true,
		Run:     r.pack,
	}
}

// isWhole says whether an image has the size that its manifest says: a copy that was cut off has not.
func isWhole(file string) bool {
	m, err := imagefile.Read(imagefile.ManifestPath(file))
	if err != nil {
		return false
	}
	info, err := os.Stat(file)
	return err == nil && info.Size() == m.Size
}

func (r *Recipe) pack(ctx context.Context, s *build.Session) error {
	start := time.Now()
	dir, remove, err := s.Scratch()
	if err != nil {
		return err
	}
	defer remove()
	file := r.File()
	packed := filepath.Join(dir, filepath.Base(file))
	manifest, err := r.packInto(ctx, s, packed)
	if err != nil {
		return err
	}
	if err := r.describe(&manifest); err != nil {
		return err
	}
	var earlier []string
	for _, step := range r.Steps() {
		if step.Name != r.name(imageStep) {
			earlier = append(earlier, step.Name)
		}
	}
	manifest.BuildSeconds = (r.Took(earlier...) + time.Since(start)).Round(100 * time.Millisecond).Seconds()
	// The manifest is the last to come and the first to go, so that it never describes another file.
	if err := os.RemoveAll(imagefile.ManifestPath(file)); err != nil {
		return err
	}
	if err := os.Rename(packed, file); err != nil {
		return err
	}
	return manifest.Write(imagefile.ManifestPath(file))
}

// packInto packs the root file system into a file, and returns what is known of it then.
func (r *Recipe) packInto(ctx context.Context, s *build.Session, path string) (imagefile.Manifest, error) {
	out, err := os.Create(path)
	if err != nil {
		return imagefile.Manifest{}, err
	}
	defer out.Close()
	sum := sha256.New()
	progress := func(done int64) { s.Progress("%d MB packed", done/1e6) }
	summary, err := archive.Pack(ctx, r.parts("root"), io.MultiWriter(out, sum), epoch(), progress)
	if err != nil {
		return imagefile.Manifest{}, err
	}
	info, err := out.Stat()
	if err != nil {
		return imagefile.Manifest{}, err
	}
	return imagefile.Manifest{
		Name:              BootResource(r.version),
		Title:             "Debian 12 with Kubernetes " + r.version + r.titleEnd(),
		Architecture:      runtime.GOARCH + "/generic",
		FileType:          "tgz",
		File:              filepath.Base(path),
		Size:              info.Size(),
		UnpackedSize:      summary.Bytes,
		SHA256:            hex.EncodeToString(sum.Sum(nil)),
		KubernetesVersion: r.version,
		Binaries:          r.binaries(),
	}, out.Close()
}
