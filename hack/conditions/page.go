package main

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed introduction.md
var introduction string

const notice = "<!-- Written by `make generate` from api/v1beta1, internal/telemetry/reasons.go and hack/conditions: change it there. -->\n"

// page is Markdown that grows.
type page struct {
	strings.Builder
	// words are those that stand as code.
	words map[string]bool
}

// write makes the page.
func write(found readings) string {
	p := &page{words: map[string]bool{}}
	for _, k := range found.kinds {
		p.learn(k)
	}
	p.WriteString(notice + "\n" + introduction)
	for _, k := range found.kinds {
		if len(k.conditions) > 0 {
			p.kind(k)
		}
	}
	p.WriteString("\n## Events\n")
	p.paragraph("`kubectl describe` and `kubectl events` show them. Each tells once that something happened, and has a reason, by which people " +
		"filter. What goes on for long is in the conditions.")
	for _, k := range found.kinds {
		if len(k.events) > 0 {
			fmt.Fprintf(p, "\n### Events of a %s\n", k.name)
			p.table("Event", "What happened", k.events)
		}
	}
	if len(found.actions) > 0 {
		p.WriteString("\n### Actions of events\n")
		p.paragraph("An event names, beside its reason, what was being done when it happened.")
		p.WriteString("\n| Action | What it is |\n|---|---|\n")
		for _, a := range found.actions {
			fmt.Fprintf(p, "| `%s` | %s |\n", a.value, p.cell(strings.TrimPrefix(strings.TrimSpace(a.means), "is ")))
		}
	}
	p.WriteString("\n## Columns\n")
	for _, k := range found.kinds {
		p.columns(k)
	}
	return p.String()
}

// learn remembers the words of a kind that are no words of English.
func (p *page) learn(k *kind) {
	p.words[k.name] = true
	for _, c := range k.conditions {
		p.words[c.value] = true
		for _, r := range c.reasons {
			p.words[r.value] = true
		}
	}
}

func (p *page) kind(k *kind) {
	fmt.Fprintf(p, "\n## %s\n", k.name)
	p.paragraph(k.text)
	for _, c := range k.conditions {
		// The kind makes the heading, and so the link to it, the only one of its name.
		fmt.Fprintf(p, "\n### %s: %s\n", k.name, c.value)
		p.paragraph(c.means)
		if len(c.reasons) > 0 {
			p.table("Reason", "What it means", c.reasons)
		}
		p.paragraph(c.also)
	}
}

// table has a third column only where somebody can do something.
func (p *page) table(first, second string, rows []constant) {
	advice := false
	for _, r := range rows {
		advice = advice || r.advice != ""
	}
	if !advice {
		fmt.Fprintf(p, "\n| %s | %s |\n|---|---|\n", first, second)
		for _, r := range rows {
			fmt.Fprintf(p, "| `%s` | %s |\n", r.value, p.cell(r.means))
		}
		return
	}
	fmt.Fprintf(p, "\n| %s | %s | What you can do |\n|---|---|---|\n", first, second)
	for _, r := range rows {
		row := fmt.Sprintf("| `%s` | %s | %s", r.value, p.cell(r.means), p.cell(r.advice))
		p.WriteString(strings.TrimRight(row, " ") + " |\n")
	}
}

func (p *page) columns(k *kind) {
	fmt.Fprintf(p, "\n### Columns of %s\n\n| Column | What it shows |\n|---|---|\n", k.resource)
	for _, c := range k.columns {
		shows := sentence(c.shows)
		if c.wide {
			shows += " Only with `-o wide`."
		}
		fmt.Fprintf(p, "| `%s` | %s |\n", strings.ToUpper(c.name), p.cell(shows))
	}
}

func (p *page) paragraph(text string) {
	if text != "" {
		fmt.Fprintf(p, "\n%s\n", fold(p.mark(text), 130))
	}
}

func (p *page) cell(text string) string {
	return strings.ReplaceAll(p.mark(sentence(text)), "|", `\|`)
}

var word = regexp.MustCompile("`[^`]*`|[A-Za-z]+")

// mark makes code of the words that are no words of English: those that are known and have several capitals. What is code already
// stays as it is.
func (p *page) mark(text string) string {
	return word.ReplaceAllStringFunc(text, func(w string) string {
		if p.words[w] && strings.IndexFunc(w[1:], unicode.IsUpper) >= 0 {
			return "`" + w + "`"
		}
		return w
	})
}

// sentence begins with a capital and ends with a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// fold breaks a text into lines of at most a width, where words allow it.
func fold(text string, width int) string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+w, " ")
	}
	return strings.Join(append(lines, line), "\n")
}
