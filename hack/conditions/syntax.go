package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"os/exec"
	"path"
	"strconv"
	"strings"
)

// literals returns the constants of a file whose values are strings that stand in it, by name.
func literals(file *ast.File) map[string]string {
	found := map[string]string{}
	for _, d := range file.Decls {
		block, ok := d.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		for _, s := range block.Specs {
			spec := s.(*ast.ValueSpec)
			for i, v := range spec.Values {
				if literal, ok := v.(*ast.BasicLit); ok {
					if text, err := unquote(literal); err == nil {
						found[spec.Names[i].Name] = text
					}
				}
			}
		}
	}
	return found
}

func unquote(literal *ast.BasicLit) (string, error) {
	if literal.Kind != token.STRING {
		return "", fmt.Errorf("%s is not a string", literal.Value)
	}
	return strconv.Unquote(literal.Value)
}

// importsOf returns the import paths of a file by the names that they have in it.
func importsOf(file *ast.File) map[string]string {
	found := map[string]string{}
	for _, spec := range file.Imports {
		text, err := unquote(spec.Path)
		if err != nil {
			continue
		}
		name := path.Base(text)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		found[name] = text
	}
	return found
}

// dirOfImport asks the Go command where the source of a package is.
func dirOfImport(importPath string) (string, error) {
	out, err := exec.CommandContext(context.Background(), "go", "list", "-find", "-f", "{{.Dir}}", importPath).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("look for package %q: %w: %s", importPath, err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// oneLine joins the lines of a comment.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
