package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const checkout = "../.."

var (
	markdownLink = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	anchorLink   = regexp.MustCompile(`\]\(([^)#:]*)#([^)]+)\)`)
	heading      = regexp.MustCompile("(?m)^#+ (.*)$")
	notInAnchors = regexp.MustCompile(`[^a-z0-9 _-]`)
	makeCommand  = regexp.MustCompile("(?m)(?:^|`)make ([a-z][a-z0-9-]*)")
)

// pages returns the text of the READMEs and of each page of the book, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(checkout, "docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, path := range append(paths, filepath.Join(checkout, "README.md"), filepath.Join(checkout, "images/README.md")) {
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

func TestLinksToHeadingsLeadSomewhere(t *testing.T) {
	t.Parallel()
	all := pages(t)
	for path, text := range all {
		for _, match := range anchorLink.FindAllStringSubmatch(text, -1) {
			target := path
			if match[1] != "" {
				target = filepath.Join(filepath.Dir(path), match[1])
			}
			page, known := all[target]
			if known && !slices.Contains(anchors(page), match[2]) {
				t.Errorf("%s: link to %s#%s: there is no such heading", path, match[1], match[2])
			}
		}
	}
}

// anchors are the names by which the headings of a page can be linked to.
func anchors(page string) []string {
	var names []string
	for _, match := range heading.FindAllStringSubmatch(page, -1) {
		names = append(names, strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-"))
	}
	return names
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
