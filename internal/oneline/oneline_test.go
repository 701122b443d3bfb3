package oneline_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/capmaas/cluster-api-provider-maas/internal/oneline"
)

func TestOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "",
		"node1":                          "node1",
		"a\r\n\tb\v c\u2028d":            "a b c d",
		"a\x00\x1b[31mb\x7f":             "a[31mb",
		"a\u202eb\u200bc\ufeff":          "abc",
		"\xff\xfea":                      "a",
		"žluťoučký":                      "žluťoučký",
		"0123456789012345678":            "0123456789012345678",
		"01234567890123456789":           "01234567890123456789",
		"012345678901234567890":          "01234567890123456789…",
		"0123456789012345678é":           "0123456789012345678…",
		"0123456789012345678 " + "x":     "0123456789012345678…",
		strings.Repeat("\x00", 81) + "x": "",
	} {
		if got := oneline.Of(text, 20); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := oneline.Of(strings.Repeat(" ", 3)+"a ", 20); got != "a" {
		t.Errorf("space around it stays: %q", got)
	}
}

func FuzzOneLine(f *testing.F) {
	f.Add("a\nb\x1b", 3)
	f.Add("é\xff", 1)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 0 || limit > 1<<20 {
			return
		}
		got := oneline.Of(text, limit)
		if len(got) > limit+len("…") || !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%q", got)
		}
		if again := oneline.Of(got, limit+len("…")); again != got {
			t.Errorf("%q is %q when it is read again", got, again)
		}
	})
}
