package simulator

import (
	"slices"
	"strings"
)

// The levels of events, as in Python's logging.
const (
	levelAudit    = 0
	levelDebug    = 10
	levelInfo     = 20
	levelWarning  = 30
	levelError    = 40
	levelCritical = 50
)

func levelName(level int) string {
	switch level {
	case levelAudit:
		return "AUDIT"
	case levelDebug:
		return "DEBUG"
	case levelInfo:
		return "INFO"
	case levelWarning:
		return "WARNING"
	case levelError:
		return "ERROR"
	}
	return "CRITICAL"
}

func levelNamed(name string) (int, bool) {
	for _, level := range []int{levelAudit, levelDebug, levelInfo, levelWarning, levelError, levelCritical} {
		if levelName(level) == name {
			return level, true
		}
	}
	return 0, false
}

// message is a machine's status_message when this is its newest event.
func (e *event) message() string {
	if e.description == "" {
		return e.kind
	}
	return e.kind + " - " + e.description
}

// mostEvents is how many events a region keeps at least: MAAS deletes none by
// itself, and 5,000 machines write twice as many in two lives each. With a
// quarter more the oldest go.
const mostEvents = 100_000

// emit records an event about a machine. username is "unknown" for what the
// system does by itself.
func (t *tx) emit(m *machine, username string, level int, kind, description string) {
	if t.r.losesEvents {
		return
	}
	id := 1
	if n := len(t.events); n > 0 {
		id = t.events[n-1].id + 1
	}
	e := &event{
		id: id, username: username, systemID: m.systemID, hostname: m.hostname, level: level,
		created: t.now().UTC(), kind: kind, description: description,
	}
	saved, last := t.state.events, t.latestEvent[m.systemID]
	if len(saved) >= mostEvents+mostEvents/4 {
		t.state.events = slices.Clone(saved[len(saved)-mostEvents:])
	}
	t.state.events = append(t.state.events, e)
	if level >= levelInfo {
		t.latestEvent[m.systemID] = e
	}
	t.undo = append(t.undo, func() {
		t.state.events = saved
		t.latestEvent[m.systemID] = last
	})
}

// forgetEvents lets go of what a machine shows of its events. The events stay.
func (t *tx) forgetEvents(m *machine) {
	id, last := m.systemID, t.latestEvent[m.systemID]
	delete(t.latestEvent, id)
	t.undo = append(t.undo, func() { t.latestEvent[id] = last })
}

// system records an INFO event that the system itself raised.
func (t *tx) system(m *machine, kind, description string) {
	t.emit(m, "unknown", levelInfo, kind, description)
}

// byUser records that a user did something, with the comment that came along.
func (c *call) byUser(m *machine, kind, comment string) { c.actedBy(c.user.name, m, kind, comment) }

func (t *tx) actedBy(username string, m *machine, kind, comment string) {
	description := "(" + username + ")"
	if comment = strings.TrimSpace(comment); comment != "" {
		description += " - " + comment
	}
	t.emit(m, username, levelDebug, kind, description)
}
