package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// check refuses a scenario that makes no sense.
func (s Scenario) check() error {
	names := map[string]int{}
	for i, f := range s.Faults {
		if err := f.check(); err != nil {
			return wrong(i, f, err)
		}
		if first, taken := names[f.Name]; taken && f.Name != "" {
			return wrong(i, f, fmt.Errorf("name: faults[%d] is called the same", first))
		}
		names[f.Name] = i
	}
	return nil
}

// given are the names of the fields that a fault uses.
func (f Fault) given() []string {
	var out []string
	for name, field := range f.fields() {
		value := reflect.ValueOf(field).Elem()
		empty := value.IsZero()
		if kind := value.Kind(); kind == reflect.Slice || kind == reflect.Map {
			empty = value.Len() == 0
		}
		if !empty {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// common are the fields that every fault may have.
func common() []string {
	return []string{"name", "do", "after", "for", "every", "skip", "count", "probability"}
}

// allowed refuses a word that is not known, and fields that it does not take.
func (f Fault) allowed(given []string) error {
	if f.Do == "" {
		return fmt.Errorf("do: says what goes wrong and is missing; there are %s", allWords())
	}
	word, known := wordOf(f.Do)
	if !known {
		var names []string
		for _, w := range Words() {
			names = append(names, string(w.Do))
		}
		return fmt.Errorf("do %q: no such fault%s; there are %s", f.Do, didYouMean(string(f.Do), names), allWords())
	}
	for _, name := range given {
		if !slices.Contains(word.Fields, name) && !slices.Contains(common(), name) {
			return fmt.Errorf("%s: %s does not take it; beside %s it takes %s", name, f.Do, strings.Join(common(), ", "), listed(word.Fields))
		}
	}
	for _, name := range word.needs {
		if !slices.Contains(given, name) {
			return fmt.Errorf("%s: %s needs it", name, f.Do)
		}
	}
	return nil
}

// allWords lists the words by what they strike.
func allWords() string {
	var out []string
	for _, group := range []Group{OnRequests, OnHardware, ByOperators, OnRegion} {
		var names []string
		for _, w := range Words() {
			if w.Group == group {
				names = append(names, string(w.Do))
			}
		}
		out = append(out, string(group)+": "+strings.Join(names, ", "))
	}
	return strings.Join(out, "; ")
}

func listed(fields []string) string {
	if len(fields) == 0 {
		return "nothing"
	}
	return strings.Join(fields, ", ")
}

// check refuses a fault that makes no sense. Its name is not looked at.
func (f Fault) check() error {
	if err := f.allowed(f.given()); err != nil {
		return err
	}
	word, _ := wordOf(f.Do)
	if err := checkName(f.Name); err != nil {
		return err
	}
	for _, step := range []func(Word) error{f.checkTimes, f.checkNumbers, f.checkAnswer, f.checkRequests, f.checkMachines} {
		if err := step(word); err != nil {
			return err
		}
	}
	return nil
}

const (
	// longestTime keeps sums of times, such as several delays, from overflowing.
	longestTime = Duration(10 * 365 * 24 * time.Hour)
	// shortestTurn is how often something may happen by itself.
	shortestTurn = Duration(100 * time.Millisecond)
)

// checkName refuses names that cannot stand in a URL as they are, and what a
// terminal would not print as it is.
func checkName(name string) error {
	unfit := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune("/?#%", r) }
	switch {
	case strings.ContainsFunc(name, unfit):
		return errors.New("name: must have no spaces and slashes, nor ?, # and %, for it stands in a URL")
	case name == "." || name == "..":
		return fmt.Errorf("name: %q is none in a URL", name)
	}
	return nil
}

func (f Fault) checkTimes(word Word) error {
	if shortest := min(f.After, f.For, f.Every, f.Delay, f.Age); shortest < 0 {
		return fmt.Errorf("after, for, every, delay, age: %s is negative", shortest)
	}
	if longest := max(f.After, f.For, f.Every, f.Delay, f.Age); longest > longestTime {
		return fmt.Errorf("after, for, every, delay, age: %s is more than ten years", longest)
	}
	for _, d := range []Duration{f.Every, f.Age} {
		if d > 0 && d < shortestTurn {
			return fmt.Errorf("every, age: %s is shorter than %s, and the region would do nothing else", d, shortestTurn)
		}
	}
	scheduled := word.Group == ByOperators && len(f.On) == 0
	switch {
	case scheduled:
		if f.For > 0 && f.Every == 0 {
			return errors.New("for: an act that no request brings about happens once; for limits it only together with every")
		}
	case f.Every > 0 && f.For == 0:
		return errors.New("every: needs for, which says how long it lasts each time")
	case f.Every > 0 && f.For >= f.Every:
		return fmt.Errorf("for: %s is not shorter than every, %s, so that it would never end", f.For, f.Every)
	}
	return nil
}

func (f Fault) checkNumbers(Word) error {
	switch {
	case f.Skip < 0:
		return fmt.Errorf("skip: %d is negative", f.Skip)
	case f.Count < 0:
		return fmt.Errorf("count: %d is negative; 0 strikes always", f.Count)
	case f.Probability != nil && !(*f.Probability >= 0 && *f.Probability <= 1): // which NaN is not
		return fmt.Errorf("probability: %v is not between 0 and 1", *f.Probability)
	}
	return nil
}

func (f Fault) checkAnswer(word Word) error {
	if f.Answer != "" && f.Status != 0 {
		return errors.New("status: answer gives one already; have one of both")
	}
	if f.Status != 0 && (f.Status < 200 || f.Status > 599) {
		return fmt.Errorf("status: %d is no HTTP status from 200 to 599", f.Status)
	}
	for name := range f.Headers {
		if name == "" || strings.ContainsAny(name, " :\r\n\t") {
			return fmt.Errorf("headers: %q is no name of a header", name)
		}
	}
	if f.Answer == "" {
		return nil
	}
	known := simulator.PresetAnswers()
	if word.Do == AwayRegion {
		known = []string{badGateway}
	}
	if !slices.Contains(known, f.Answer) {
		return fmt.Errorf("answer %q: no such answer%s; there are %s", f.Answer, didYouMean(f.Answer, known), strings.Join(known, ", "))
	}
	return nil
}

func (f Fault) checkRequests(word Word) error {
	if word.Group == ByOperators && len(f.On) == 0 {
		switch {
		case f.User != "":
			return errors.New("user: is about requests, and on names none")
		case f.Committed:
			return errors.New("committed: is about requests, and on names none")
		}
	}
	if word.Group == OnRequests && len(f.On) == 0 && word.Do != Stale {
		return errors.New(`on: says which requests it strikes and is missing; such as "machines allocate", "deploy", "reads", "writes" or "*"`)
	}
	selected, err := operationsOf(f.On)
	if err != nil {
		return err
	}
	if word.Do == Stale && len(f.On) > 0 && !selected.takesReads() {
		return fmt.Errorf("on %q: only reads can be stale", strings.Join(f.On, ", "))
	}
	return nil
}

func (f Fault) checkMachines(word Word) error {
	machines, err := machinesOf(f.Machine)
	if err != nil {
		return err
	}
	if word.Group == OnHardware && machines.needsOwner() {
		return errors.New("machine: hardware knows neither status nor owner; name the machine by its hostname, system ID, tag, zone or pool")
	}
	if word.Group == ByOperators && len(f.On) == 0 && len(f.Machine) == 0 {
		return fmt.Errorf("machine: says whose turn it is to %s and is missing; \"*\" stands for every machine", f.Do)
	}
	if word.Do == Rename && strings.ContainsAny(strings.ReplaceAll(f.To, "*", ""), " ./_:") {
		return fmt.Errorf("to %q: is no hostname", f.To)
	}
	return nil
}
