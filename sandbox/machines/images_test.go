package machines

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/roots"
)

func TestADeployOfWhatCannotBootSaysWhy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	content := []byte(strings.Repeat("no archive ", 100))
	file := filepath.Join(dir, "content")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	booter, err := New(Config{
		Dir: dir, Roots: roots.New(filepath.Join(dir, "roots")), Log: slog.New(slog.DiscardHandler), Installing: func(string, string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		boot simulator.BootMachine
		want string
	}{
		{
			simulator.BootMachine{SystemID: "abc123", Hostname: "calm-dingo", Image: "ubuntu/jammy"},
			"image ubuntu/jammy: the sandbox boots only images that were uploaded",
		},
		{
			simulator.BootMachine{
				SystemID: "def456", Hostname: "brave-crane", Image: "custom/broken", ImageFile: file, ImageSHA256: hex.EncodeToString(sum[:]),
			},
			"image custom/broken: the image is no root file system in a .tar.gz",
		},
	} {
		if err := booter.Boot(t.Context(), test.boot); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.boot.Image, err, test.want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "brave-crane.console.log")); err != nil || !strings.Contains(string(text), "installing custom/broken: ") {
		t.Errorf("its console says %q, %v", text, err)
	}
	if disks := booter.Disks(); len(disks) != 0 {
		t.Errorf("there are disks: %+v", disks)
	}
}
