package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRaisedLimitsArePutBackUnlessSomebodyChangedThem(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, meanwhile, want string
	}{
		{"untouched since", "", "128"},
		{"changed since", "4096", "4096"},
	} {
		l, err := NewLayout(t.TempDir(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(l.State, 0o755); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "limit")
		if err := os.WriteFile(path, []byte("128\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := RaiseLimit(l, &LimitError{Name: "a.limit", Have: 128, Want: 300, path: path}); err != nil {
			t.Fatalf("%s: RaiseLimit: %v", test.name, err)
		}
		if got, err := readLimit(path); err != nil || got != 300 {
			t.Errorf("%s: the raised limit is %d, %v", test.name, got, err)
		}
		// Another sandbox came up meanwhile, and more is needed.
		if err := RaiseLimit(l, &LimitError{Name: "a.limit", Have: 300, Want: 400, path: path}); err != nil {
			t.Fatalf("%s: RaiseLimit again: %v", test.name, err)
		}
		if test.meanwhile != "" {
			if err := os.WriteFile(path, []byte(test.meanwhile), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // the second time there is nothing to restore
			if err := RestoreLimits(l); err != nil {
				t.Fatalf("%s: RestoreLimits: %v", test.name, err)
			}
		}
		if got, _ := os.ReadFile(path); strings.TrimSpace(string(got)) != test.want {
			t.Errorf("%s: the limit is %q afterwards, want %s", test.name, got, test.want)
		}
	}
}
