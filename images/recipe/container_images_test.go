package recipe

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

func testLayers(t *testing.T) layers {
	t.Helper()
	var l layers
	dir := t.TempDir()
	for i, part := range []*v1.Layer{&l.kubernetes, &l.netfilter, &l.coredns, &l.pause} {
		source := filepath.Join(dir, string(rune('a'+i)))
		write(t, source, source)
		var err error
		if *part, err = newLayer([]layerFile{{path: "program", source: source}}); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func TestTheArchiveHoldsEveryImageUnderItsName(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "images.tar")
	names := []string{"registry.example/kube-proxy:v1", "registry.example/coredns/coredns:v2", "registry.example/pause:3", "localhost/x/pod-routes:sandbox"}
	if err := writeArchive(file, names, testLayers(t).newImage); err != nil {
		t.Fatal(err)
	}
	manifest, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(file) })
	if err != nil {
		t.Fatal(err)
	}
	layersOf := make(map[string]int)
	for _, image := range manifest {
		for _, tag := range image.RepoTags {
			layersOf[tag] = len(image.Layers)
		}
	}
	for _, name := range names {
		want := 1
		if strings.Contains(name, "proxy") || strings.Contains(name, "routes") {
			want = 2
		}
		if layersOf[name] != want {
			t.Errorf("%s has %d layers, want %d; the archive has %v", name, layersOf[name], want, layersOf)
		}
	}
}

func TestAnImageThatNobodyCanMakeIsAnError(t *testing.T) {
	t.Parallel()
	err := writeArchive(filepath.Join(t.TempDir(), "images.tar"), []string{"registry.example/novelty:v1"}, testLayers(t).newImage)
	if err == nil || !strings.Contains(err.Error(), "novelty") {
		t.Errorf("error %v", err)
	}
}

func TestTheNetworksManifestNamesItsImages(t *testing.T) {
	t.Parallel()
	manifest, err := os.ReadFile("../workload/cni.yaml")
	if err != nil {
		t.Fatal(err)
	}
	names := imagesIn(manifest)
	if len(names) != 1 || programOf(names[0]) != "pod-routes" {
		t.Errorf("images %v", names)
	}
	if got := imagesIn([]byte("  - image: a:1\n    image: b:2\n    image: a:1\n    # image: c\n")); !slices.Equal(got, []string{"a:1", "b:2"}) {
		t.Errorf("images %v", got)
	}
}
