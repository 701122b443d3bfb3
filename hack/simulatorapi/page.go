package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

//go:embed introduction.md
var introduction string

const notice = "<!-- Written by `make generate` from the operations that maas/simulator registers, and from hack/simulatorapi: change it there. -->\n"

// write makes the page of what is modelled and what is not.
func write(modelled, missing []simulator.Operation) string {
	var page strings.Builder
	page.WriteString(notice + "\n" + introduction + "\n" + count(modelled, missing) + "\n")
	for _, area := range areas(missing, modelled) {
		of := func(all []simulator.Operation) []simulator.Operation {
			return slices.DeleteFunc(slices.Clone(all), func(o simulator.Operation) bool { return o.Area() != area })
		}
		page.WriteString("\n## " + area + "\n")
		table(&page, of(modelled))
		list(&page, of(missing))
	}
	return page.String()
}

// count says how much there is of all.
func count(modelled, missing []simulator.Operation) string {
	partly := 0
	for _, o := range modelled {
		if o.Lacks != "" {
			partly++
		}
	}
	return fmt.Sprintf("Of %d operations, %d are modelled, and %d more in part.", len(modelled)+len(missing), len(modelled)-partly, partly)
}

// areas are the parts of MAAS, as they first come.
func areas(lists ...[]simulator.Operation) []string {
	var out []string
	for _, o := range slices.Concat(lists...) {
		if area := o.Area(); !slices.Contains(out, area) {
			out = append(out, area)
		}
	}
	return out
}

// table has a row for each operation that is modelled.
func table(page *strings.Builder, operations []simulator.Operation) {
	if len(operations) == 0 {
		return
	}
	page.WriteString("\n| operation | request | in the simulator |\n|--|--|--|\n")
	for _, o := range operations {
		state := "modelled"
		if o.Lacks != "" {
			state = "partly: " + strings.ReplaceAll(clause(o.Lacks), "|", `\|`)
		}
		fmt.Fprintf(page, "| `%s` | `%s` | %s |\n", o.Name, request(o), state)
	}
}

// clause lets a sentence go on after a colon.
func clause(sentence string) string {
	if len(sentence) > 1 && (sentence[1] == ' ' || sentence[1] >= 'a' && sentence[1] <= 'z') {
		return strings.ToLower(sentence[:1]) + sentence[1:]
	}
	return sentence
}

// request is what is sent for an operation.
func request(o simulator.Operation) string {
	path := strings.ReplaceAll(o.Path, "...}", "}")
	if o.Op != "" {
		path += "?op=" + o.Op
	}
	return o.Method + " " + path
}

// list names what is not modelled, a line for each path.
func list(page *strings.Builder, operations []simulator.Operation) {
	if len(operations) == 0 {
		return
	}
	page.WriteString("\nNot modelled:\n\n")
	last := ""
	for _, o := range operations {
		switch o.Path {
		case last:
			page.WriteString(", ")
		default:
			if last != "" {
				page.WriteString("\n")
			}
			fmt.Fprintf(page, "* `%s`: ", o.Path)
		}
		last = o.Path
		fmt.Fprintf(page, "`%s`", o.Name)
	}
	page.WriteString("\n")
}
