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

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
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

func TestResolveInNeverLeavesTheRoot(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, filepath.Join(root, "usr/lib/real"), "x")
	for name, target := range map[string]string{
		"lib": "usr/lib", "absolute": "/lib/real", "relative": "lib/../lib/real", "up": "../../../usr/lib/real", "loop": "loop",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"usr/lib/real", "lib/real", "absolute", "relative", "up", "/absolute"} {
		if got, err := resolveIn(root, name); err != nil || got != filepath.Join(root, "usr/lib/real") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for _, name := range []string{"loop", "missing"} {
		if got, err := resolveIn(root, name); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}
