package recipe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
)

func TestAnImageThatIsNotWholeIsMadeAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "debian-12-k8s-v1.36.3-amd64.tar.gz")
	path := imagefile.ManifestPath(file)
	manifest := imagefile.Manifest{
		Name: "custom/debian-12-k8s-v1.36.3", Title: "An image", Architecture: "amd64/generic", FileType: "tgz", File: filepath.Base(file),
		SHA256: strings.Repeat("ab", 32), Size: 5, UnpackedSize: 9, KubernetesVersion: "v1.36.3",
	}
	for _, test := range []struct {
		name string
		do   func() error
		want bool
	}{
		{"no file", func() error { return manifest.Write(path) }, false},
		{"whole", func() error { return os.WriteFile(file, []byte("image"), 0o600) }, true},
		{"cut off", func() error { return os.WriteFile(file, []byte("ima"), 0o600) }, false},
		{"a damaged manifest", func() error { return os.WriteFile(path, []byte("{"), 0o600) }, false},
	} {
		if err := test.do(); err != nil {
			t.Fatal(err)
		}
		if got := isWhole(file); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
