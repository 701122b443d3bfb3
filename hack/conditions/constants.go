package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// constant is one of the words that users see.
type constant struct {
	name  string // in Go
	value string
	// means and advice are its docstring, without its name. There may be no advice.
	means, advice string
	at            string // file and line, for errors
}

// group is a block of constants with a docstring of its own.
type group struct {
	text      string
	constants []constant
	at        string
}

// source reads groups of constants and resolves the values that are constants themselves.
type source struct {
	files *token.FileSet
	// dirOf returns the folder with the source of an import path.
	dirOf func(importPath string) (string, error)
	// known holds the values by name, for this package's names, and by import path and name, for others'.
	known map[string]string
}

// groups reads the constants of a file. Every one must have a docstring, and every block too.
func (s *source) groups(path string) ([]group, error) {
	file, err := parser.ParseFile(s.files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	imports := importsOf(file)
	var all []group
	for _, d := range file.Decls {
		block, ok := d.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		g := group{text: oneLine(block.Doc.Text()), at: s.files.Position(block.Pos()).String()}
		if g.text == "" || !block.Lparen.IsValid() {
			return nil, fmt.Errorf("%s: constants stand in blocks, and a block has a docstring that says of what they are", g.at)
		}
		for _, spec := range block.Specs {
			c, err := s.constant(spec.(*ast.ValueSpec), imports)
			if err != nil {
				return nil, err
			}
			g.constants = append(g.constants, c)
		}
		all = append(all, g)
	}
	return all, nil
}

func (s *source) constant(spec *ast.ValueSpec, imports map[string]string) (constant, error) {
	c := constant{name: spec.Names[0].Name, at: s.files.Position(spec.Pos()).String()}
	if len(spec.Names) != 1 || len(spec.Values) != 1 {
		return c, fmt.Errorf("%s: one name and one value to a line", c.at)
	}
	var err error
	if c.value, err = s.value(spec.Values[0], imports); err != nil {
		return c, fmt.Errorf("%s: the value of %s: %w", c.at, c.name, err)
	}
	s.known[c.name] = c.value
	text, ok := strings.CutPrefix(oneLine(spec.Doc.Text()), c.name)
	if !ok || text == "" {
		return c, fmt.Errorf("%s: %s has no docstring that begins with its name", c.at, c.name)
	}
	c.means, c.advice, _ = strings.Cut(text, " Do: ")
	return c, nil
}

// reason is the constant of a reason or an event: its docstring has a colon after the name.
func (c constant) reason() (constant, error) {
	means, ok := strings.CutPrefix(c.means, ": ")
	if !ok || means == "" {
		return c, fmt.Errorf("%s: the docstring is not of the form \"%s: what it means. Do: what a person can do.\"", c.at, c.name)
	}
	c.means = means
	return c, nil
}

// value resolves a literal, a constant that was read before, or one of another package.
func (s *source) value(expression ast.Expr, imports map[string]string) (string, error) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		return unquote(e)
	case *ast.Ident:
		if v, ok := s.known[e.Name]; ok {
			return v, nil
		}
		return "", fmt.Errorf("%s is not a constant of this file or of one before it", e.Name)
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok {
			return s.foreign(imports[pkg.Name], e.Sel.Name)
		}
	}
	return "", fmt.Errorf("it is neither a string nor the name of a constant")
}

// foreign reads a constant of another package.
func (s *source) foreign(importPath, name string) (string, error) {
	if v, ok := s.known[importPath+"."+name]; ok {
		return v, nil
	}
	dir, err := s.dirOf(importPath)
	if err != nil {
		return "", err
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		for name, value := range literals(file) {
			s.known[importPath+"."+name] = value
		}
	}
	if v, ok := s.known[importPath+"."+name]; ok {
		return v, nil
	}
	return "", fmt.Errorf("package %q has no string constant %s", importPath, name)
}
