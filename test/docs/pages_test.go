package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const checkout = "../.."

var (
	markdownLink = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	makeCommand  = regexp.MustCompile("(?m)(?:^|`)make ([a-z][a-z0-9-]*)")
)

// pages returns the text of the README and of each page of the book, by path from the top of the repository.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(checkout, "docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, path := range append(paths, filepath.Join(checkout, "README.md")) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(data)
	}
	if len(texts) < 3 {
		t.Fatalf("found only %d pages", len(texts))
	}
	return texts
}

func TestLinksBetweenPagesLeadSomewhere(t *testing.T) {
	t.Parallel()
	for path, text := range pages(t) {
		for _, match := range markdownLink.FindAllStringSubmatch(text, -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), match[1])); err != nil {
				t.Errorf("%s: link to %s: %v", path, match[1], err)
			}
		}
	}
}

func TestPagesNameOnlyWhatMakeCanMake(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(checkout, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for path, text := range pages(t) {
		for _, match := range makeCommand.FindAllStringSubmatch(text, -1) {
			named++
			if !strings.Contains(string(makefile), "\n"+match[1]+":") {
				t.Errorf("%s names 'make %s', which the Makefile does not have", path, match[1])
			}
		}
	}
	if named == 0 {
		t.Error("no page names a make command; is the pattern right?")
	}
}
