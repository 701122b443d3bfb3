package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheEndOfALogHasWholeLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	if got := Tail(path, 3); got != "  (no log)" {
		t.Errorf("of no file: %q", got)
	}
	for text, want := range map[string]string{
		"":                                 "  (empty)",
		"\n\n":                             "  (empty)",
		"one":                              "  one",
		"one\ntwo\nthree\n":                "  two\n  three",
		strings.Repeat("x", 20000) + "\ny": "  y",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Tail(path, 2); got != want {
			t.Errorf("%.20q: got %.40q, want %q", text, got, want)
		}
	}
}
