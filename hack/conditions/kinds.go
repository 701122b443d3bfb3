package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
)

// kind is a kind of object, and all that people read about it.
type kind struct {
	name       string
	resource   string // as kubectl spells it
	text       string // about its conditions together
	conditions []condition
	events     []constant
	columns    []column
}

// condition is a type of condition, with its reasons.
type condition struct {
	constant
	reasons []constant
	also    string // what is said of all its reasons
}

// column is one of those that kubectl prints.
type column struct {
	name, shows string
	wide        bool // only with -o wide
}

var (
	columnMarker   = regexp.MustCompile(`^\+kubebuilder:printcolumn:(.*)$`)
	resourceMarker = regexp.MustCompile(`^\+kubebuilder:resource:.*\bpath=(\w+)`)
	markerArgument = regexp.MustCompile("(\\w+)=(\"[^\"]*\"|`[^`]*`|[^,]*)")
)

// kindsIn reads the kinds of a file of types: those that are resources and have columns.
func kindsIn(path string) ([]*kind, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []*kind
	for _, d := range file.Decls {
		block, ok := d.(*ast.GenDecl)
		if !ok || block.Tok != token.TYPE || block.Doc == nil {
			continue
		}
		k := &kind{name: block.Specs[0].(*ast.TypeSpec).Name.Name}
		for _, comment := range block.Doc.List {
			text := strings.TrimSpace(strings.TrimPrefix(comment.Text, "//"))
			if match := resourceMarker.FindStringSubmatch(text); match != nil {
				k.resource = match[1]
			}
			if match := columnMarker.FindStringSubmatch(text); match != nil {
				c, err := columnOf(match[1])
				if err != nil {
					return nil, fmt.Errorf("%s: %w", files.Position(comment.Pos()), err)
				}
				k.columns = append(k.columns, c)
			}
		}
		if k.resource != "" {
			all = append(all, k)
		}
	}
	return all, nil
}

// columnOf reads the arguments of a marker.
func columnOf(arguments string) (column, error) {
	values := map[string]string{}
	for _, match := range markerArgument.FindAllStringSubmatch(arguments, -1) {
		values[match[1]] = strings.Trim(match[2], "\"`")
	}
	c := column{name: values["name"], shows: values["description"]}
	c.wide = values["priority"] != "" && values["priority"] != "0"
	if c.shows == "" {
		return c, fmt.Errorf("column %q has no description", c.name)
	}
	return c, nil
}

// kindOf chooses the kind that a file of conditions is named for.
func kindOf(kinds []*kind, path string) (*kind, error) {
	name, _ := strings.CutSuffix(filepath.Base(path), "_conditions.go")
	for _, k := range kinds {
		if strings.ToLower(k.name) == name {
			return k, nil
		}
	}
	return nil, fmt.Errorf("%s: no kind of that name is among the types", path)
}
