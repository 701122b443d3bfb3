// Package oneline makes what others wrote fit to be shown in a condition or an event: one line, of what can be seen, and not too long.
package oneline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Of returns a text as one line of at most limit bytes and a mark where it was cut. What cannot be seen, or turns the direction of what follows, is
// left out: control and format characters, and what is no UTF-8.
func Of(text string, limit int) string {
	if len(text) > 4*limit {
		text = text[:4*limit] // who writes that much does not matter to the end
	}
	text = strings.ToValidUTF8(text, "")
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return strings.TrimRight(text[:limit], " ") + "…"
}
