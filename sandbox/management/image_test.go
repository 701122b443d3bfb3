package management

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
	"github.com/capmaas/cluster-api-provider-maas/images/recipe"
	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
)

func TestTheSandboxTakesTheImageOfTheDefaultVersion(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	l := host.Layout{Root: root, State: t.TempDir(), Build: t.TempDir()}
	if _, err := BuiltImage(l); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "make image") {
		t.Errorf("without an image: %v", err)
	}
	version := recipe.DefaultVersion(&build.Project{Repo: root})
	want := Image{
		File: recipe.File(l.Build, version), Name: recipe.BootResource(version), KubernetesVersion: version,
		SHA256: strings.Repeat("ab", 32), Size: 5, UnpackedSize: 9,
	}
	if err := os.MkdirAll(l.Images(), 0o755); err != nil {
		t.Fatal(err)
	}
	manifest := imagefile.Manifest{
		Name: want.Name, Title: "An image", Architecture: "amd64/generic", FileType: "tgz", File: filepath.Base(want.File),
		SHA256: want.SHA256, Size: want.Size, UnpackedSize: want.UnpackedSize, KubernetesVersion: version,
	}
	if err := manifest.Write(imagefile.ManifestPath(want.File)); err != nil {
		t.Fatal(err)
	}
	if got, err := BuiltImage(l); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}
