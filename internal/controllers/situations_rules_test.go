package controllers_test

import (
	"fmt"
	"regexp"
	"strings"
)

// What no text that people read may hold: the words of programs, times and counters, and secrets.
var unwanted = map[string]*regexp.Regexp{
	"a word of Go":               regexp.MustCompile(`%!|\bnil\b|<nil>|context deadline|context canceled|\bEOF\b|error:|goroutine|map\[|&\{|0x[0-9a-f]+|\*url\.|no such host`),
	"an operation of the client": regexp.MustCompile(`(^|[ (])maas: `),
	"a date":                     regexp.MustCompile(`20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d`),
	"a counter of attempts":      regexp.MustCompile(`(?i)attempt \d|\d+ times|retry \d`),
	"a line break":               regexp.MustCompile(`[\r\n]`),
	"spaces in a row":            regexp.MustCompile(`  |^ | $`),
	"a secret":                   regexp.MustCompile(`k{17}|t{18}|u{18}|s{31}|not-for-anybodys-eyes`),
}

// A message names what it is about: a machine, an object, a DNS name or MAAS.
var named = regexp.MustCompile(`\bnode\d\b|\baaaaa\d\b|\bprod(-[a-z0-9-]+)?\b|maas\.example\.com|"[^"]+"|\b(Machine|Cluster|MaasCluster|MaasMachine|Node) \S|spec\.`)

// A message says what to do, if anybody can do anything.
var advice = regexp.MustCompile(`(?i)\b(add|ask|change|check|choose|commission|confirm|correct|create|delete|exit|free|give|let|look|make|mark|point|put|release|remove|rename|repair|see|set|start|switch|unlock|upgrade|upload|use|wait|raise)\b`)

// What was being done is no advice, though it has its words.
var doing = regexp.MustCompile(`\b(make|write|delete|read) the DNS record|removing the DNS record`)

// maxMessage is what fits into a screen's few lines.
const maxMessage = 300

// judge checks what is true of every text, whatever the situation.
func judge(w *world, s situation) {
	w.Helper()
	var complaints []string
	complain := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
	for _, object := range objects() {
		for _, c := range w.conditions(object) {
			what := object + "'s " + c.Type
			acceptable(complain, what, c.Message)
			negative := c.Type == "Deleting" || c.Type == "Paused"
			if wrong := negative == (c.Status == "True"); wrong && c.Message == "" {
				complain("%s is %s (%s) and says nothing", what, c.Status, c.Reason)
			}
		}
	}
	first := map[string]string{}
	for _, e := range w.told {
		if note, told := first[e.series]; told && note != e.note {
			complain("the event %s with the note %q hides that with %q", e.reason, note, e.note)
		}
		first[e.series] = e.note
		acceptable(complain, "the event "+e.reason, e.note)
		if e.note == "" {
			complain("the event %s says nothing", e.reason)
		}
	}
	said := s.said()
	if !named.MatchString(said) {
		complain("the message names nothing: %s", said)
	}
	if !s.passes && !advice.MatchString(doing.ReplaceAllString(said, "")) {
		complain("the message does not say what to do: %s", said)
	}
	switch {
	case s.do == "":
		w.Error("the page does not say what to do")
	case len(complaints) > 0:
		w.Error(strings.Join(complaints, "\n"))
	}
}

func acceptable(complain func(string, ...any), what, text string) {
	if len(text) > maxMessage {
		complain("%s has %d bytes: %s", what, len(text), text)
	}
	for kind, expression := range unwanted {
		if found := expression.FindString(text); found != "" {
			complain("%s holds %s (%q): %s", what, kind, strings.TrimSpace(found), text)
		}
	}
}
