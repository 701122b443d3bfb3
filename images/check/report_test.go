package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
)

// testSession checks a file of a few bytes.
func testSession(t *testing.T, log *bytes.Buffer) *session {
	t.Helper()
	dir, content := t.TempDir(), []byte("an image")
	file := filepath.Join(dir, "debian.tar.gz")
	sum := sha256.Sum256(content)
	m := imagefile.Manifest{
		Name: "custom/debian", Architecture: "amd64/generic", FileType: "tgz", File: "debian.tar.gz", Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]),
	}
	if err := errors.Join(os.WriteFile(file, content, 0o644), m.Write(imagefile.ManifestPath(file))); err != nil {
		t.Fatal(err)
	}
	s, err := newSession(Options{Image: file, Out: filepath.Join(dir, "out"), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAFileThatIsNotThatOfItsManifestIsSeen(t *testing.T) {
	t.Parallel()
	s := testSession(t, &bytes.Buffer{})
	if err := s.checkFile(t.Context()); err != nil || len(s.report.Failed()) != 0 {
		t.Fatalf("the right file: %v, %v", err, s.report.Failed())
	}
	if err := os.WriteFile(s.Image, []byte("An image"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.checkFile(t.Context()); err != nil || len(s.report.Failed()) != 1 || !strings.Contains(s.report.Failed()[0].Do, "make image") {
		t.Fatalf("another file: %v, %v", err, s.report.Failed())
	}
}

func TestTheReportIsKeptBesideTheManifest(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := testSession(t, &log)
	s.report.Parts = []Part{{Name: "chroot", Seconds: 1.5}}
	s.report.Versions["qemu"] = "7.2"
	s.add(result("chroot", "netplan", "netplan answers", "0.106", time.Second, nil))
	s.add(result("chroot", "logs", "no logs", "", time.Second, problemf("remove it", "%s", "/var/log/a\nb")))
	if err := s.finish(false); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"  ok   netplan answers (0.106)\n", "  FAIL no logs: found /var/log/a b; remove it\n", "chroot  2       1       1.5\n"} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("no %q in\n%s", line, log.String())
		}
	}
	text, err := os.ReadFile(strings.TrimSuffix(s.Image, ".tar.gz") + ".check.json")
	if err != nil {
		t.Fatal(err)
	}
	var report Report
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	if report.Passed || report.SHA256 != s.manifest.SHA256 || report.Versions["qemu"] != "7.2" || len(report.Checks) != 2 || report.Checks[1].Found != "/var/log/a b" {
		t.Errorf("report %+v", report)
	}
}

func TestChecksOfOnlySomeKindsLeaveTheWholeReportAlone(t *testing.T) {
	t.Parallel()
	s := testSession(t, &bytes.Buffer{})
	if err := s.finish(true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(reportPath(s.Image)); err == nil {
		t.Error("a partial report took the place of a whole one")
	}
}

func TestOnlyTakesPartsAndChecks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		only, parts string
	}{
		{"", "file chroot container qemu install"}, {"qemu", "qemu"}, {"netplan", "chroot"}, {"netplan container-images", "chroot container"},
	} {
		chosen, err := choose(parts(), strings.Fields(test.only))
		var names []string
		for _, p := range chosen {
			names = append(names, p.name)
		}
		if got := strings.Join(names, " "); err != nil || got != test.parts {
			t.Errorf("%q: %s, %v", test.only, got, err)
		}
	}
	if _, err := choose(parts(), []string{"netplam"}); err == nil || !strings.Contains(err.Error(), "netplan") {
		t.Errorf("a name that is none: %v", err)
	}
}
