package host

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCgroupMountsOfBothVersionsOnce(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, mountinfo string
		want            []string
	}{
		{
			name: "version 1 with the hybrid hierarchy",
			mountinfo: `24 1 0:22 / /proc rw - proc proc rw
30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
32 30 0:28 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`,
			want: []string{"/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified"},
		},
		{
			name: "version 2, mounted twice, once in a folder with a blank",
			mountinfo: `30 25 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw
99 25 0:26 / /mnt/a\040b rw - cgroup2 cgroup2 rw
`,
			want: []string{"/sys/fs/cgroup"},
		},
		{
			name:      "a part of a hierarchy, as in a container",
			mountinfo: "30 25 0:26 /docker/ab /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			want:      nil,
		},
	} {
		got, err := cgroupMounts(strings.NewReader(test.mountinfo))
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, %v; want %q", test.name, got, err, test.want)
		}
	}
}

func TestRemoveCgroupRemovesThoseInsideFirst(t *testing.T) {
	t.Parallel()
	// Folders stand in for cgroups: both can be removed only when nothing is inside.
	dir := filepath.Join(t.TempDir(), "sandbox")
	if err := os.MkdirAll(filepath.Join(dir, "machine", "kubepods", "pod1"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing left to remove
		if err := removeCgroup(context.Background(), dir); err != nil {
			t.Fatalf("removeCgroup: %v", err)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestCgroupNameTellsSandboxesApartAndNeedsNoState(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	name := func(state string) string {
		l, err := NewLayout(root, state, "")
		if err != nil {
			t.Fatal(err)
		}
		return l.CgroupName()
	}
	first := name("a")
	if err := os.Mkdir(filepath.Join(root, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if again := name("a"); again != first {
		t.Errorf("the name changed from %s to %s when the folder was made", first, again)
	}
	if other := name("b"); other == first {
		t.Errorf("two sandboxes share the name %s", first)
	}
}

func TestOnlyCgroupsWithoutProcessesCountAsAbandoned(t *testing.T) {
	t.Parallel()
	for processes, want := range map[string]bool{"": true, "17\n": false} {
		dir := filepath.Join(t.TempDir(), "sandbox")
		inner := filepath.Join(dir, "machine")
		if err := os.MkdirAll(inner, 0o755); err != nil {
			t.Fatal(err)
		}
		for at, text := range map[string]string{dir: "", inner: processes} {
			if err := os.WriteFile(filepath.Join(at, "cgroup.procs"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := abandoned(dir); got != want {
			t.Errorf("with the processes %q inside: abandoned = %v", processes, got)
		}
	}
}
