package archive

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestCompareTellsEachDifference(t *testing.T) {
	t.Parallel()
	a, b := sampleTree(t), sampleTree(t)
	put(t, a, "etc/only-a", "", 0o644)
	put(t, b, "etc/only-b", "", 0o644)
	put(t, b, "etc/hosts", "127.0.0.1 elsewhere\n", 0o644)
	must(t, os.Chmod(pathIn(b, "etc/shadow"), 0o644))
	must(t, os.Chtimes(pathIn(b, "etc.d/after"), time.Time{}, older.Add(time.Minute)))
	must(t, os.Remove(pathIn(b, "bin")))
	must(t, os.Symlink("/bin", pathIn(b, "bin")))
	must(t, os.Remove(pathIn(b, "usr/bin/zudo")))
	put(t, b, "usr/bin/zudo", "program", 0o755)
	must(t, unix.Lsetxattr(pathIn(b, "var/big"), "user.origin", []byte("x"), 0))
	differences, err := Compare(t.Context(), packFile(t, a), packFile(t, b))
	must(t, err)
	var got []string
	for _, d := range differences {
		got = append(got, d.String())
	}
	want := []string{
		"./bin: link /usr/bin became /bin",
		"./etc.d/after: time 2024-05-06T07:08:09Z became 2024-05-06T07:09:09Z",
		"./etc/hosts: content 20 bytes (sha256 081ef9d53675) became 20 bytes (sha256 c64b34bc22ac)",
		"./etc/only-a: removed, file",
		"./etc/only-b: added, file",
		"./etc/shadow: mode 0600 became 0644",
		"./usr/bin/zudo: type hard link became file",
		"./usr/bin/zudo: link ./usr/bin/sudo became nothing",
		"./usr/bin/zudo: content nothing became 7 bytes (sha256 1310ca2c8932)",
		"./usr/bin/zudo: mode 4755 became 0755",
		`./var/big: attribute nothing became user.origin="x"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s", strings.Join(got, "\n"))
	}
}

func TestEqualArchivesHaveNoDifferences(t *testing.T) {
	t.Parallel()
	differences, err := Compare(t.Context(), packFile(t, sampleTree(t)), packFile(t, sampleTree(t)))
	must(t, err)
	if len(differences) > 0 {
		t.Errorf("got %v", differences)
	}
}

func TestCompareTellsADamagedFile(t *testing.T) {
	t.Parallel()
	whole := packFile(t, sampleTree(t))
	half := filepath.Join(t.TempDir(), "half.tar.gz")
	content, err := os.ReadFile(whole)
	must(t, err)
	must(t, os.WriteFile(half, content[:len(content)/2], 0o600))
	for _, files := range [][2]string{{whole, half}, {half, whole}} {
		if _, err := Compare(t.Context(), files[0], files[1]); !errors.Is(err, ErrDamaged) {
			t.Errorf("got %v", err)
		}
	}
}
