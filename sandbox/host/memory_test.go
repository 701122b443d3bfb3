package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAvailableMemoryIsReadFromMeminfo(t *testing.T) {
	t.Parallel()
	got, err := availableMemory(strings.NewReader("MemTotal:  24684084 kB\nMemFree: 1 kB\nMemAvailable:   2048 kB\n"))
	if err != nil || got != 2048*1024 {
		t.Errorf("availableMemory = %d, %v", got, err)
	}
	if _, err := availableMemory(strings.NewReader("MemTotal: 1 kB\n")); err == nil {
		t.Error("a text without MemAvailable is taken")
	}
}

func TestMemoryLeftInACgroup(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files   map[string]string
		left    uint64
		limited bool
	}{
		"version 2":              {map[string]string{"memory.max": "1000", "memory.current": "700", "memory.stat": "anon 1\ninactive_file 200\n"}, 500, true},
		"version 2, no limit":    {map[string]string{"memory.max": "max", "memory.current": "700"}, 0, false},
		"version 1":              {map[string]string{"memory.limit_in_bytes": "1000", "memory.usage_in_bytes": "400"}, 600, true},
		"version 1, no limit":    {map[string]string{"memory.limit_in_bytes": "9223372036854771712", "memory.usage_in_bytes": "400"}, 0, false},
		"nothing left":           {map[string]string{"memory.max": "1000", "memory.current": "1200"}, 0, true},
		"no memory in this tree": {nil, 0, false},
	} {
		dir := t.TempDir()
		for file, text := range test.files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if left, limited := memoryLeft(dir); left != test.left || limited != test.limited {
			t.Errorf("%s: %d, %t; want %d, %t", name, left, limited, test.left, test.limited)
		}
	}
}

func TestOwnCgroupIsThatOfTheHierarchy(t *testing.T) {
	t.Parallel()
	const mixed = "4:memory:/user/ann\n3:cpu,cpuacct:/cpu\n0::/unified\n"
	for controller, want := range map[string]string{"memory": "/user/ann", "cpuacct": "/cpu", "unified": "/unified"} {
		if got := ownCgroup(mixed, controller); got != want {
			t.Errorf("%s: %q, want %q", controller, got, want)
		}
	}
}
