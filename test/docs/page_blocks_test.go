package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// block is a fenced block of a page.
type block struct {
	line     int // of the page, from 1
	language string
	text     string
	// marks are what comments right before it say: <!-- file: region.yaml -->.
	marks map[string]string
}

// command is a block of shell commands, and what the page shows of their output; nil when it shows none.
type command struct {
	block
	output *block
}

// The marks of blocks that a page's test runs. What they mean stands in docs/development.md.
const (
	markUntested  = "not tested" // and why
	markFile      = "file"       // and its name
	markFails     = "fails"
	markNotOutput = "not output"
)

var (
	fence   = regexp.MustCompile("^( *)```+([a-z]*)$")
	comment = regexp.MustCompile(`^ *<!-- ([a-z][a-z ]*?)(?:: (.*))? -->$`)
)

// blocksOf finds the fenced blocks of a page, in order. Comments that are no marks are none of its business.
func blocksOf(page string) ([]block, error) {
	var blocks []block
	var open *block
	var indent string
	marks := map[string]string{}
	line := 0
	for text := range strings.Lines(page) {
		line++
		text = strings.TrimRight(text, " \n")
		found := fence.FindStringSubmatch(text)
		switch {
		case open != nil && found != nil:
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.text += strings.TrimPrefix(text, indent) + "\n"
		case found != nil:
			open, indent = &block{line: line, language: found[2], marks: marks}, found[1]
			marks = map[string]string{}
		case comment.MatchString(text):
			mark := comment.FindStringSubmatch(text)
			if slices.Contains([]string{markUntested, markFile, markFails, markNotOutput}, mark[1]) {
				marks[mark[1]] = mark[2]
			}
		case text != "" && len(marks) > 0:
			return nil, fmt.Errorf("line %d: no block follows the mark %v", line, marks)
		}
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the block does not end", open.line)
	}
	return blocks, nil
}

// commandsOf are the blocks of shell commands of a page, and the files that are written before them. What is shown in a block without
// language, as text or as JSON, is the output of the commands before it.
func commandsOf(blocks []block) (commands []command, others []block) {
	for i := range blocks {
		b := blocks[i]
		_, own := b.marks[markNotOutput]
		_, file := b.marks[markFile]
		isOutput := slices.Contains([]string{"", "text", "json"}, b.language) && !own && !file
		switch {
		case b.language == "sh":
			commands = append(commands, command{block: b})
		case isOutput && i > 0 && blocks[i-1].language == "sh":
			commands[len(commands)-1].output = &blocks[i]
		default:
			others = append(others, b)
		}
	}
	return commands, others
}

// compareOutput says where an output is not what the page shows. In the page "…" stands for what varies: within a line for any text, on a
// line of its own for any lines.
func compareOutput(shown, got string) error {
	var pattern strings.Builder
	pattern.WriteString("^")
	for line := range strings.Lines(strings.TrimRight(shown, "\n")) {
		line = strings.TrimRight(line, " \n")
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString("(?:.*\n)*?")
			continue
		}
		for i, part := range strings.Split(line, "…") {
			if i > 0 {
				pattern.WriteString(".*?")
			}
			pattern.WriteString(regexp.QuoteMeta(part))
		}
		pattern.WriteString(" *\n")
	}
	pattern.WriteString("$")
	got = strings.TrimRight(strings.ReplaceAll(got, "\r", "\n"), " \n") + "\n"
	if strings.TrimSpace(shown) == "" {
		got = strings.TrimLeft(got, "\n")
	}
	if regexp.MustCompile(pattern.String()).MatchString(got) {
		return nil
	}
	return fmt.Errorf("the page shows\n%s\nand it printed\n%s", shown, got)
}
