// Package docs checks that the book says what the code does.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Whoever meets a reason or a condition finds it in the book.
func TestConditionsPageNamesEveryConditionAndReason(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/conditions.md")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]string{}
	for _, file := range []string{"maasmachine_conditions.go", "maascluster_conditions.go"} {
		maps.Copy(words, stringConstants(t, "../../api/v1beta1/"+file))
	}
	if len(words) < 20 {
		t.Fatalf("found only %d conditions and reasons in the API", len(words))
	}
	for name, word := range words {
		inTable := strings.Contains(string(page), "| `"+word+"` |")
		inHeading := strings.Contains(string(page), "### "+word+":")
		if !inTable && !inHeading {
			t.Errorf("docs/conditions.md does not explain %s (%s)", word, name)
		}
	}
}

// stringConstants returns the constants of a Go file whose values are written out in it, by name.
func stringConstants(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, isSpec := node.(*ast.ValueSpec)
		if !isSpec {
			return true
		}
		for i, value := range spec.Values {
			literal, isLiteral := value.(*ast.BasicLit)
			if !isLiteral || literal.Kind != token.STRING {
				continue
			}
			word, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			constants[spec.Names[i].Name] = word
		}
		return true
	})
	return constants
}
