package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/capmaas/cluster-api-provider-maas/"

// word is a constant that users see.
type word struct {
	name, value string // no value where it is another constant
	sort        string // a condition, reason, event or action: equal words of one sort would be confused
}

// A reason that nothing sets, and an event that nothing raises, would be explained for nothing.
func TestEveryConditionReasonAndEventIsUsed(t *testing.T) {
	t.Parallel()
	used := usesOf(t, module+"api/v1beta1", module+"internal/telemetry")
	for _, w := range append(apiWords(t), eventWords(t)...) {
		if !used[w.name] {
			t.Errorf("no code uses the %s %s", w.sort, w.name)
		}
	}
}

// Whoever searches the book for a reason finds one meaning.
func TestNoTwoConditionsReasonsOrEventsAreOneWord(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	for _, w := range append(apiWords(t), eventWords(t)...) {
		if w.value == "" {
			continue
		}
		key := w.sort + " " + w.value
		if other := names[key]; other != "" {
			t.Errorf("%s and %s are both the %s", other, w.name, key)
		}
		names[key] = w.name
	}
}

// apiWords returns the conditions and reasons of all kinds.
func apiWords(t *testing.T) []word {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(checkout, "api/v1beta1/*_conditions.go"))
	if err != nil {
		t.Fatal(err)
	}
	var words []word
	for _, path := range paths {
		for _, w := range constants(t, path) {
			switch {
			case strings.HasSuffix(w.name, "Condition"):
				w.sort = "condition " + filepath.Base(path)
			case strings.HasSuffix(w.name, "Reason"):
				w.sort = "reason"
			default:
				t.Errorf("%s: %s is named neither a condition nor a reason", path, w.name)
			}
			words = append(words, w)
		}
	}
	if len(words) < 20 {
		t.Fatalf("found only %d conditions and reasons", len(words))
	}
	return words
}

// eventWords returns the reasons and actions of events.
func eventWords(t *testing.T) []word {
	t.Helper()
	words := constants(t, filepath.Join(checkout, "internal/telemetry/reasons.go"))
	for i := range words {
		words[i].sort = "event"
		if strings.HasPrefix(words[i].name, "Action") {
			words[i].sort = "action"
		}
	}
	if len(words) < 20 {
		t.Fatalf("found only %d events and actions", len(words))
	}
	return words
}

// constants returns the constants of a Go file.
func constants(t *testing.T, path string) []word {
	t.Helper()
	var words []word
	for _, d := range parse(t, path).Decls {
		block, ok := d.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		for _, s := range block.Specs {
			spec := s.(*ast.ValueSpec)
			w := word{name: spec.Names[0].Name}
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
				value, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				w.value = value
			}
			words = append(words, w)
		}
	}
	return words
}

// usesOf returns the names that the provider's code, without tests, uses of some packages. They stand for all of them together, for the
// names of API and events differ.
func usesOf(t *testing.T, packages ...string) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	for _, folder := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(checkout, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file := parse(t, path)
			var local []string
			for _, spec := range file.Imports {
				if i := slices.Index(packages, strings.Trim(spec.Path.Value, `"`)); i >= 0 {
					name := packages[i][strings.LastIndex(packages[i], "/")+1:]
					if spec.Name != nil {
						name = spec.Name.Name
					}
					local = append(local, name)
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if pkg, ok := s.X.(*ast.Ident); ok && slices.Contains(local, pkg.Name) {
						used[s.Sel.Name] = true
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return used
}

func parse(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
