package main

import (
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// readings is all that the page is made from.
type readings struct {
	kinds   []*kind
	actions []constant
}

// read reads the API in a folder and the events in a file.
func read(api, events string, dirOf func(string) (string, error)) (readings, error) {
	var found readings
	types, err := filepath.Glob(filepath.Join(api, "*_types.go"))
	if err != nil {
		return found, err
	}
	for _, path := range types {
		kinds, err := kindsIn(path)
		if err != nil {
			return found, err
		}
		found.kinds = append(found.kinds, kinds...)
	}
	files, err := filepath.Glob(filepath.Join(api, "*_conditions.go"))
	if err != nil {
		return found, err
	}
	s := &source{files: token.NewFileSet(), dirOf: dirOf, known: map[string]string{}}
	groups := map[*kind][]group{}
	for _, path := range files {
		k, err := kindOf(found.kinds, path)
		if err != nil {
			return found, err
		}
		if groups[k], err = s.groups(path); err != nil {
			return found, err
		}
	}
	if len(groups) == 0 {
		return found, fmt.Errorf("there are no conditions in %s", api)
	}
	shared, err := reasonsByValue(groups)
	if err != nil {
		return found, err
	}
	for _, k := range found.kinds {
		for _, g := range groups[k] {
			if err := k.take(g, shared); err != nil {
				return found, err
			}
		}
		if err := k.complete(); err != nil {
			return found, err
		}
	}
	return found, found.takeEvents(s, events)
}

// reasonsByValue finds the reasons that a group of another condition may name.
func reasonsByValue(groups map[*kind][]group) (map[string]constant, error) {
	found := map[string]constant{}
	for _, list := range groups {
		for _, g := range list {
			if !strings.HasPrefix(g.text, "Reasons of ") {
				continue
			}
			for _, c := range g.constants {
				if other, twice := found[c.value]; twice {
					return nil, fmt.Errorf("%s and %s: %q is declared twice; the one block names it after \"beside\"", other.at, c.at, c.value)
				}
				found[c.value] = c
			}
		}
	}
	return found, nil
}

// take adds a group to a kind: its conditions, or the reasons of one of them.
func (k *kind) take(g group, shared map[string]constant) error {
	if text, ok := strings.CutPrefix(g.text, "Conditions of a "+k.name+"."); ok {
		k.text = strings.TrimSpace(text)
		for _, c := range g.constants {
			c.means = sentence(strings.TrimSpace(c.means))
			k.conditions = append(k.conditions, condition{constant: c})
		}
		return nil
	}
	about, ok := strings.CutPrefix(g.text, "Reasons of ")
	if !ok {
		return fmt.Errorf("%s: the docstring begins neither with \"Conditions of a %s.\" nor with \"Reasons of \"", g.at, k.name)
	}
	of, also, _ := strings.Cut(about, ".")
	of, others, _ := strings.Cut(of, ", beside ")
	i := slices.IndexFunc(k.conditions, func(c condition) bool { return c.value == of })
	if i < 0 {
		return fmt.Errorf("%s: a %s has no condition %q, or it is not declared above", g.at, k.name, of)
	}
	all := g.constants
	for _, name := range strings.FieldsFunc(others, func(r rune) bool { return r == ' ' || r == ',' }) {
		c, ok := shared[name]
		switch {
		case name == "and":
			continue
		case !ok:
			return fmt.Errorf("%s: there is no reason %q", g.at, name)
		}
		all = append(all, c)
	}
	c := &k.conditions[i]
	c.also = strings.TrimSpace(c.also + " " + strings.TrimSpace(also))
	for _, reason := range all {
		reason, err := reason.reason()
		if err != nil {
			return err
		}
		c.reasons = append(c.reasons, reason)
	}
	return nil
}

// complete checks that every condition has reasons. Those of Ready are those of the conditions that it sums up.
func (k *kind) complete() error {
	for _, c := range k.conditions {
		if len(c.reasons) == 0 && c.value != "Ready" {
			return fmt.Errorf("%s: there are no \"Reasons of %s.\"", c.at, c.value)
		}
	}
	return nil
}

// takeEvents adds the events to their kinds.
func (r *readings) takeEvents(s *source, path string) error {
	groups, err := s.groups(path)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if strings.HasPrefix(g.text, "Actions of events.") {
			r.actions = g.constants
			continue
		}
		name, ok := strings.CutPrefix(strings.TrimSuffix(g.text, "."), "Events of a ")
		i := slices.IndexFunc(r.kinds, func(k *kind) bool { return k.name == name })
		if !ok || i < 0 {
			return fmt.Errorf("%s: the docstring is neither \"Events of a <kind>.\" nor \"Actions of events. …\"", g.at)
		}
		for _, c := range g.constants {
			c, err := c.reason()
			if err != nil {
				return err
			}
			r.kinds[i].events = append(r.kinds[i].events, c)
		}
	}
	return nil
}
