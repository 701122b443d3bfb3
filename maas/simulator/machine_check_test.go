package simulator

import (
	"math"
	"net/http"
	"strings"
	"testing"
)

func TestNoMachineHasWhatNoHardwareHas(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]Machine{
		"hostname is no label":      {Hostname: "../x"},
		"systemID":                  {Hostname: "a", SystemID: "abc/de"},
		"cores is 9223372036854775": {Hostname: "a", Cores: math.MaxInt64},
		"cores is -1":               {Hostname: "a", Cores: -1},
		"memoryMiB is -1":           {Hostname: "a", MemoryMiB: -1},
		"memoryMiB is 922337203685": {Hostname: "a", MemoryMiB: math.MaxInt64},
		"diskGB is 922337203685477": {Hostname: "a", DiskGB: math.MaxInt64},
		`powerState "sideways"`:     {Hostname: "a", PowerState: "sideways"},
		`tag "a b"`:                 {Hostname: "a", Tags: []string{"a b"}},
		`tag ""`:                    {Hostname: "a", Tags: []string{"fine", ""}},
	} {
		region, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := region.AddMachine(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", m, err, want)
		}
		if s := region.Snapshot(); len(s.Machines)+len(s.Tags) > 0 {
			t.Errorf("%+v left %v and %v", m, s.Machines, s.Tags)
		}
	}
}

// MAAS lists the cores that commissioning found, however many somebody says.
func TestACoreCountOfAUserIsNotListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) { cfg.Machines = []Machine{{Hostname: "a", SystemID: "abc123"}} })
	for _, count := range []string{"2147483647", "-1"} {
		if got := w.ask("admin", http.MethodPut, "/machines/abc123/", "", [2]string{"cpu_count", count}); got.status != http.StatusOK || len(got.body) > 1<<20 {
			t.Errorf("cpu_count=%s: %d, %d bytes", count, got.status, len(got.body))
		}
	}
}

func TestAnOperatorGivesAMachineANameOfItsOwn(t *testing.T) {
	t.Parallel()
	region, err := New(Config{Machines: []Machine{{Hostname: "a", SystemID: "aaaaaa"}, {Hostname: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"b": `there is a machine "b" already`, "": "is no hostname", "../x": "is no hostname", "é": "is no hostname"} {
		if err := region.Rename("aaaaaa", name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	if err := region.Rename("aaaaaa", "a"); err != nil {
		t.Errorf("its own name: %v", err)
	}
}
