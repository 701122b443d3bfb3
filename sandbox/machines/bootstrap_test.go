package machines

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestBootstrapFailureShowsWhatKubeadmSaid(t *testing.T) {
	t.Parallel()
	const failed = `{"v1": {"datasource": "DataSourceMAAS", "errors": ["('scripts-user', RuntimeError('Runparts: 1 failures'))"]}}`
	const ownWords = "2026-11-30 15:06:10,777 - cc_scripts_user.py[WARNING]: Failed to run module scripts-user\n" +
		"Cloud-init v. 22.4.2 finished at Mon, 30 Nov 2026 15:06:10 +0000.\n"
	for _, test := range []struct {
		name, result, output string
		want                 []string
	}{
		{"not ended yet", "", "[preflight] Running\n", nil},
		{"all is well", `{"v1": {"errors": []}}`, "error: of no consequence\n", nil},
		{"being written", `{"v1": {"err`, "", nil},
		{
			"checks failed", failed,
			"\x1b[0;37mOS\x1b[0m: Linux\nE1130 15:06:10 remote_image.go:250] \"PullImage failed\"\n" +
				"[preflight] Some fatal errors occurred:\n\t[ERROR ImagePull]: failed to pull image a\n\t[ERROR Port-6443]: Port 6443 is in use\n" +
				"error: error execution phase preflight: preflight checks failed\nTo see the stack trace of this error execute with --v=5 or higher\n" + ownWords,
			[]string{
				"[ERROR ImagePull]: failed to pull image a", "[ERROR Port-6443]: Port 6443 is in use",
				"error: error execution phase preflight: preflight checks failed",
			},
		},
		{
			"another command failed", failed, "containerd is there\nswapoff: Not superuser.\n" + ownWords,
			[]string{"containerd is there", "swapoff: Not superuser."},
		},
		{"no output", failed, "", []string{"('scripts-user', RuntimeError('Runparts: 1 failures'))"}},
	} {
		dir := t.TempDir()
		for path, text := range map[string]string{"upper/var/lib/cloud/data/result.json": test.result, "log/cloud-init-output.log": test.output} {
			if text == "" {
				continue
			}
			full := filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := BootstrapFailure(dir); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestTellingLinesAreFewAndShort(t *testing.T) {
	t.Parallel()
	lines := tellingLines([]byte(strings.Repeat("\t[ERROR ImagePull]: "+strings.Repeat("ä", 500)+"\n", 9)))
	if len(lines) != 5 || len(lines[0]) > 230 || !strings.HasSuffix(lines[0], "ä…") {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
}
