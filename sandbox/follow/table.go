package follow

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// view shows states as they come.
type view interface {
	// show is called once a second or so.
	show(s *state, elapsed time.Duration)
	// say tells something once.
	say(elapsed time.Duration, text string)
}

// newView shows states on a terminal of that size, or line by line where there is none.
func newView(out io.Writer, columns, height int) view {
	if columns > 0 {
		return &screen{out: out, columns: columns, height: height}
	}
	return &lines{out: out, rows: map[string]row{}, said: map[string]bool{}}
}

// screen redraws a table in place.
type screen struct {
	out             io.Writer
	columns, height int
	drawn           int
}

func (v *screen) show(s *state, elapsed time.Duration) {
	var text strings.Builder
	v.erase(&text)
	drawing := fit(draw(s, elapsed, v.columns), v.height)
	for _, line := range drawing {
		text.WriteString(line + "\n")
	}
	v.drawn = len(drawing)
	fmt.Fprint(v.out, text.String())
}

func (v *screen) say(elapsed time.Duration, message string) {
	var text strings.Builder
	v.erase(&text)
	v.drawn = 0
	fmt.Fprintf(v.out, "%s[%s] %s\n", text.String(), Elapsed(elapsed), message)
}

// erase moves the cursor to where the table began, and clears from there.
func (v *screen) erase(text *strings.Builder) {
	if v.drawn > 0 {
		fmt.Fprintf(text, "\x1b[%dA\x1b[J", v.drawn)
	}
}

// draw is the table with what stands around it, line by line, none longer than the terminal is wide.
func draw(s *state, elapsed time.Duration, columns int) []string {
	out := []string{"", fmt.Sprintf("[%s] cluster %s: %d of %d Nodes are Ready", Elapsed(elapsed), ClusterName, s.readyNodes(), s.wanted())}
	for _, milestone := range s.milestones() {
		out = append(out, "  + "+milestone)
	}
	out = append(out, "")
	out = append(out, tableFor(s.rows(), columns)...)
	for i, line := range out {
		out[i] = shorten(line, columns)
	}
	return out
}

// fit leaves out the last lines of a drawing that is higher than the terminal: what has scrolled away cannot be redrawn.
func fit(drawing []string, height int) []string {
	room := height - 1 // The cursor stands below.
	if height <= 1 || len(drawing) <= room {
		return drawing
	}
	kept := drawing[:room-1]
	return append(kept[:len(kept):len(kept)], fmt.Sprintf("… and %d lines more: make sandbox-status", len(drawing)-len(kept)))
}

// tableFor is the table as a terminal of that width shows it best. Where there is no room for what a Machine waits for, that stands
// on a line of its own, and the Node's name, which is that of the host, is left out.
func tableFor(rows []row, columns int) []string {
	const readable = 40
	lines := table(rows)
	if head, _, _ := strings.Cut(lines[0], "WAITING FOR"); len(head)+readable <= columns {
		return lines
	}
	cells := [][]string{{"MACHINE", "MAAS HOST", "STATE", "POWER", "ADDRESS", "READY"}}
	for _, r := range rows {
		cells = append(cells, []string{r.machine, r.host, r.state, r.power, r.address, orDash(r.ready)})
	}
	lines = layOut(cells)
	out := lines[:1:1]
	for i, r := range rows {
		out = append(out, lines[i+1])
		if r.waiting != "" {
			out = append(out, "  "+r.waiting)
		}
	}
	return out
}

// table lays rows out in columns that are as wide as they have to be.
func table(rows []row) []string {
	cells := [][]string{{"MACHINE", "MAAS HOST", "STATE", "POWER", "ADDRESS", "NODE", "READY", "WAITING FOR"}}
	for _, r := range rows {
		cells = append(cells, []string{r.machine, r.host, r.state, r.power, r.address, r.node, r.ready, r.waiting})
	}
	return layOut(cells)
}

// layOut pads all cells but the last of a line, so that columns line up.
func layOut(cells [][]string) []string {
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(orDash(cell)))
		}
	}
	var out []string
	for _, line := range cells {
		var text strings.Builder
		for i, cell := range line {
			if i == len(line)-1 {
				text.WriteString(cell)
				break
			}
			cell = orDash(cell)
			text.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		out = append(out, strings.TrimRight(text.String(), " "))
	}
	return out
}

func orDash(cell string) string {
	if cell == "" {
		return "-"
	}
	return cell
}

// shorten cuts a line that would wrap.
func shorten(line string, columns int) string {
	if utf8.RuneCountInString(line) <= columns || columns < 2 {
		return line
	}
	return string([]rune(line)[:columns-1]) + "…"
}

// lines prints a line when something changed.
type lines struct {
	out   io.Writer
	rows  map[string]row
	said  map[string]bool
	nodes int
}

func (v *lines) show(s *state, elapsed time.Duration) {
	for _, milestone := range s.milestones() {
		if !v.said[milestone] {
			v.said[milestone] = true
			v.say(elapsed, milestone)
		}
	}
	seen := map[string]bool{}
	for _, r := range s.rows() {
		seen[r.machine] = true
		if v.rows[r.machine] != r {
			v.rows[r.machine] = r
			v.say(elapsed, r.sentence())
		}
	}
	for name := range v.rows {
		if !seen[name] {
			delete(v.rows, name)
			v.say(elapsed, name+" is gone")
		}
	}
	if ready := s.readyNodes(); ready != v.nodes {
		v.nodes = ready
		v.say(elapsed, fmt.Sprintf("%d of %d Nodes are Ready", ready, s.wanted()))
	}
}

func (v *lines) say(elapsed time.Duration, text string) {
	fmt.Fprintf(v.out, "[%s] %s\n", Elapsed(elapsed), text)
}

// sentence tells of a Machine in one line.
func (r row) sentence() string {
	var facts []string
	if r.host != "" {
		facts = append(facts, fmt.Sprintf("%s is %s, power %s", r.host, orDash(r.state), orDash(r.power)))
	}
	if r.address != "" {
		facts = append(facts, r.address)
	}
	if r.node != "" {
		facts = append(facts, fmt.Sprintf("Node %s Ready=%s", r.node, orDash(r.ready)))
	}
	if r.waiting != "" {
		facts = append(facts, r.waiting)
	}
	return r.machine + ": " + strings.Join(facts, ", ")
}
