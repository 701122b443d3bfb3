package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

const (
	redrawEvery = 100 * time.Millisecond
	lineEvery   = 5 * time.Second // where there is no terminal
	// rateOver is how far back the rate looks.
	rateOver = 10 * time.Second
)

// bar shows how far something has come: as one line that is drawn again and again on a terminal, as a line every few seconds elsewhere.
type bar struct {
	out   io.Writer
	width func() int // columns; 0 without a terminal
	now   func() time.Time

	label   string
	samples []sample // of the last seconds, the newest at the end
	shown   time.Time
	open    bool // the cursor is in a line that is not finished
}

// sample is how many bytes were done when.
type sample struct {
	at   time.Time
	done int64
}

func newBar(out io.Writer, width func() int) *bar {
	return &bar{out: out, width: width, now: time.Now}
}

// terminalWidth tells how wide the terminal is that a file is, in columns; 0 if it is none, or none on which a line can be drawn anew. Kind is
// what TERM says.
func terminalWidth(file *os.File, kind string) func() int {
	fd := int(file.Fd())
	if kind == "dumb" || !term.IsTerminal(fd) {
		return func() int { return 0 }
	}
	return func() int {
		reported, _, err := term.GetSize(fd)
		return columns(reported, err)
	}
}

// columns is how wide a terminal is that reports a width or an error.
func columns(reported int, err error) int {
	if err != nil || reported < 1 {
		return 80 // serial lines do not know
	}
	return max(reported, 2) // the last one stays free
}

// show tells that done bytes of total are done.
func (b *bar) show(label string, done, total int64) {
	now := b.now()
	if label != b.label || len(b.samples) > 0 && done < b.samples[len(b.samples)-1].done {
		b.end()
		b.label, b.samples, b.shown = label, nil, time.Time{}
		if b.width() == 0 {
			b.shown = now // what is quick needs no line but the last
		}
	}
	b.samples = append(b.samples, sample{now, done})
	for len(b.samples) > 2 && now.Sub(b.samples[0].at) > rateOver {
		b.samples = b.samples[1:]
	}
	width := b.width()
	every := lineEvery
	if width > 0 {
		every = redrawEvery
	}
	if done < total && now.Sub(b.shown) < every {
		return
	}
	b.shown = now
	text := b.text(done, total)
	if width == 0 {
		fmt.Fprintf(b.out, "%s: %s\n", label, text)
		return
	}
	b.open = true
	fmt.Fprintf(b.out, "\r\x1b[K%s", line(label, text, width-1, done, total))
}

// say prints a line between others.
func (b *bar) say(text string) {
	b.end()
	fmt.Fprintln(b.out, text)
}

// end finishes the line that is open.
func (b *bar) end() {
	if b.open {
		fmt.Fprintln(b.out)
	}
	b.open = false
	b.label = ""
}

// text is the part that says it in numbers.
func (b *bar) text(done, total int64) string {
	percent := int64(100)
	if total > 0 {
		percent = done * 100 / total
	}
	text := fmt.Sprintf("%3d%%  %s of %s", percent, megabytes(done), megabytes(total))
	first := b.samples[0]
	elapsed, moved := b.now().Sub(first.at), done-first.done
	if elapsed < 500*time.Millisecond || moved <= 0 {
		return text
	}
	rate := float64(moved) / elapsed.Seconds()
	text += fmt.Sprintf("  %s/s", megabytes(int64(rate)))
	if done < total {
		text += fmt.Sprintf("  %s left", left(time.Duration(float64(total-done)/rate*float64(time.Second))))
	}
	return text
}

// line fits label, bar and numbers into a width. The label is cut first.
func line(label, text string, width int, done, total int64) string {
	const gap, smallest, largest, numbers, wide = 2, 10, 30, 50, 90
	if width >= wide {
		// So that the bar stays as long as it is when the numbers grow.
		text = fmt.Sprintf("%-*s", numbers, text)
	}
	room := width - len(text) - 2*gap - smallest
	if room < 8 {
		return cut(text, width)
	}
	label = cut(label, room)
	inner := min(width-len(text)-2*gap-len([]rune(label)), largest) - 2
	full := inner
	if total > 0 {
		full = int(int64(inner) * done / total)
	}
	return fmt.Sprintf("%s  [%s%s]  %s", label, strings.Repeat("#", full), strings.Repeat(" ", inner-full), text)
}

func cut(text string, width int) string {
	if runes := []rune(text); len(runes) > width {
		return string(runes[:max(width-1, 0)]) + "…"
	}
	return text
}

// megabytes writes a number of bytes for people, in units of 1000.
func megabytes(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}

// left writes how long something still takes.
func left(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d >= 99*time.Hour:
		return "days"
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%ds", int(d.Seconds()))
}
