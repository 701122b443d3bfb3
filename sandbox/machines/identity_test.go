package machines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestIdentityIsWhatTheInstallerOfMAASLeaves(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	outside := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(outside, []byte("the host's"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, "etc", "resolv.conf")); err != nil {
		t.Fatal(err)
	}
	err := writeIdentity(root, simulator.BootMachine{
		Hostname: "calm-dingo", Domain: "maas.sandbox", Interface: simulator.BootInterface{Address: "10.20.0.11/24"},
		Nameservers: []string{"10.20.0.2"}, SearchDomains: []string{"maas.sandbox"},
		MetadataURL: "http://10.20.0.2:5240/MAAS/metadata/", ConsumerKey: "ck", TokenKey: "tk", TokenSecret: `a"b: #c`,
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"etc/hostname":    "calm-dingo\n",
		"etc/hosts":       "10.20.0.11 calm-dingo.maas.sandbox calm-dingo\n",
		"etc/resolv.conf": "nameserver 10.20.0.2\nsearch maas.sandbox\n",
		"etc/cloud/cloud.cfg.d/90-maas.cfg": `datasource_list: [MAAS]
datasource:
  MAAS:
    metadata_url: "http://10.20.0.2:5240/MAAS/metadata/"
    consumer_key: "ck"
    token_key: "tk"
    token_secret: "a\"b: #c"
`,
	} {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("/%s is %q, %v; want %q", path, got, err, want)
		}
	}
	if got, _ := os.ReadFile(outside); string(got) != "the host's" {
		t.Errorf("a link led out of the machine: %q", got)
	}
}

func TestCableNamesFitAndDiffer(t *testing.T) {
	t.Parallel()
	first, second := cableName("abc123"), cableName("abc124")
	if len(first) > 15 || first == second {
		t.Errorf("cables %q and %q", first, second)
	}
}
