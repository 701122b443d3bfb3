package simulator

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// eventOperations are the calls of events.
func eventOperations() []operation {
	return []operation{
		{http.MethodGet, "/events/", "query", users, queryEvents, ""},
	}
}

// maxEvents is the most that one query answers.
const maxEvents = 1000

type eventJSON struct {
	Username    string `json:"username"`
	Node        string `json:"node"`
	Hostname    string `json:"hostname"`
	ID          int    `json:"id"`
	Level       string `json:"level"`
	Created     string `json:"created"`
	Type        string `json:"type"`
	Description string `json:"description"`
}

type eventsJSON struct {
	Count   int         `json:"count"`
	Events  []eventJSON `json:"events"`
	NextURI string      `json:"next_uri"`
	PrevURI *string     `json:"prev_uri"`
}

// queryEvents answers the newest events first. With after it answers the
// oldest that follow, newest first among them.
func queryEvents(c *call) (*answer, *refusal) {
	window, refused := c.eventWindow()
	if refused != nil {
		return nil, refused
	}
	wanted := c.eventFilter()
	found := c.selectEvents(window, wanted)
	out := eventsJSON{Count: len(found), Events: []eventJSON{}}
	for _, e := range found {
		out.Events = append(out.Events, eventJSON{
			e.username, e.systemID, e.hostname, e.id, levelName(e.level), e.created.Format("Mon, 02 Jan. 2006 15:04:05"), e.kind, e.description,
		})
	}
	base := c.eventURI()
	out.NextURI = base
	if len(found) > 0 {
		out.NextURI = base + "&after=" + strconv.Itoa(found[0].id)
		previous := base + "&before=" + strconv.Itoa(found[len(found)-1].id)
		out.PrevURI = &previous
	} else if window.after >= 0 {
		out.NextURI = base + "&after=" + strconv.Itoa(window.after)
	}
	return ok(out)
}

type eventWindow struct{ limit, level, before, after int }

func (c *call) eventWindow() (eventWindow, *refusal) {
	w := eventWindow{level: levelInfo, before: -1, after: -1}
	var refused *refusal
	if w.limit, refused = c.query.integer("limit", 100); refused != nil {
		return w, refused
	}
	if w.limit > maxEvents {
		return w, text(http.StatusBadRequest, fmt.Sprintf("Requested number of events %d is greater than limit: %d", w.limit, maxEvents))
	}
	// MAAS 3.7: a limit of 0 gives one event.
	w.limit = max(w.limit, 1)
	if name := c.query.get("level"); name != "" {
		level, known := levelNamed(name)
		if !known {
			return w, text(http.StatusBadRequest, "Unrecognised log level: "+name)
		}
		w.level = level
	}
	if w.before, refused = c.query.integer("before", -1); refused != nil {
		return w, refused
	}
	if w.after, refused = c.query.integer("after", -1); refused != nil {
		return w, refused
	}
	if w.before >= 0 && w.after >= 0 {
		return w, text(http.StatusBadRequest, "There is undetermined behaviour when both `after` and `before` are specified.")
	}
	return w, nil
}

// eventFilter selects by the machine that an event is about, as it is now.
func (c *call) eventFilter() func(*event) bool {
	q := c.query
	fields := map[string]func(*machine) string{
		"id":         func(m *machine) string { return m.systemID },
		"hostname":   func(m *machine) string { return m.hostname },
		"domain":     func(m *machine) string { return c.domainOf(m).name },
		"zone":       func(m *machine) string { return c.zones.rows[m.zone].name },
		"pool":       func(m *machine) string { return c.pools.rows[m.pool].name },
		"agent_name": func(m *machine) string { return m.agentName },
		"owner":      func(m *machine) string { return m.owner },
	}
	return func(e *event) bool {
		m, exists := c.machines.get(e.systemID)
		for name, value := range fields {
			if list := q.all(name); len(list) > 0 && (!exists || !slices.Contains(list, value(m))) {
				return false
			}
		}
		if list := q.all("mac_address"); len(list) > 0 {
			return exists && m.hasMAC(list[len(list)-1])
		}
		return true
	}
}

func (c *call) selectEvents(w eventWindow, wanted func(*event) bool) []*event {
	var found []*event
	keep := func(e *event) bool {
		// The audit log is asked for by its own level only.
		if w.level == levelAudit {
			return e.level == levelAudit && wanted(e)
		}
		return e.level >= w.level && wanted(e)
	}
	events := c.state.events
	if w.after >= 0 {
		first := sort.Search(len(events), func(i int) bool { return events[i].id > w.after })
		for i := first; i < len(events) && len(found) < w.limit; i++ {
			if keep(events[i]) {
				found = append([]*event{events[i]}, found...)
			}
		}
		return found
	}
	for i := len(events) - 1; i >= 0 && len(found) < w.limit; i-- {
		if (w.before < 0 || events[i].id < w.before) && keep(events[i]) {
			found = append(found, events[i])
		}
	}
	return found
}

// eventURI repeats the query without its position.
func (c *call) eventURI() string {
	parts := []string{"op=query"}
	for _, name := range []string{"id", "hostname", "mac_address", "domain", "zone", "pool", "agent_name", "owner", "level", "limit"} {
		for _, value := range c.query.all(name) {
			parts = append(parts, name+"="+url.QueryEscape(value))
		}
	}
	return apiPrefix + "/events/?" + strings.Join(parts, "&")
}
