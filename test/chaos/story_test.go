package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// story is what happened, a line for each thing.
type story struct {
	lines []string
	drawn []int // how often the dice were thrown before each
}

// tell adds a line.
func (w *world) tell(who, format string, args ...any) {
	w.story.drawn = append(w.story.drawn, w.dice.source.drawn)
	w.story.lines = append(w.story.lines, w.clock.Now().Format("15:04:05.000 ")+who+": "+fmt.Sprintf(format, args...))
}

// last are the newest lines, but for what only looked and found.
func (s *story) last(n int) string {
	var shown []string
	for i := len(s.lines) - 1; i >= 0 && len(shown) < n; i-- {
		line := s.lines[i]
		looks := strings.Contains(line, ": GET ") && strings.HasSuffix(line, ": 200") || strings.Contains(line, " looks at ")
		if *only > 0 || !looks {
			shown = append(shown, line)
		}
	}
	slices.Reverse(shown)
	return strings.Join(shown, "\n  ")
}

// breaks says that a rule was broken, or that the world did not get where it should.
func (w *world) breaks(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.tell("RULE BROKEN", "%s", text)
	w.broken = append(w.broken, text)
}

func (w *world) isBroken() bool { return len(w.broken) > 0 }

// short is a time without zeros that say nothing.
func short(d time.Duration) string { return d.Round(time.Second).String() }

// holdings are the machines as they are.
func (w *world) holdings() string {
	text := &strings.Builder{}
	for _, id := range w.machines {
		m, there := w.region.Machine(id)
		if !there {
			continue
		}
		fmt.Fprintf(text, "\n  %s %s %s power %s owner %q agent %q locked %t %v %v %v %s", id, m.Hostname, m.StatusName, m.PowerState, m.Owner, m.AgentName, m.Locked,
			m.Addresses, m.Annotations, m.Tags, w.spoilt[id])
	}
	return text.String()
}
