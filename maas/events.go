package maas

import (
	"context"
	"encoding/json"
	"strconv"
	"time"
)

// Event is an entry of MAAS's event log.
type Event struct {
	ID          int64
	SystemID    string // the machine it is about
	Hostname    string
	Level       string
	Type        string // such as "Node changed status", which has level DEBUG
	Description string
	Username    string // "unknown" for MAAS's own
	Created     time.Time
}

// eventTime is how MAAS writes the time of an event, in UTC: "Mon, 30 Nov. 2026 11:18:56".
const eventTime = "Mon, 02 Jan. 2006 15:04:05"

// UnmarshalJSON decodes an event; a time in an unknown form is the zero time.
func (e *Event) UnmarshalJSON(data []byte) error {
	var w struct {
		ID          *number `json:"id"`
		Node        string  `json:"node"`
		Hostname    string  `json:"hostname"`
		Level       string  `json:"level"`
		Type        string  `json:"type"`
		Description string  `json:"description"`
		Username    string  `json:"username"`
		Created     string  `json:"created"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if w.ID == nil {
		return errShape("an event has no id")
	}
	created, err := time.Parse(eventTime, w.Created)
	if err != nil {
		created = time.Time{}
	}
	*e = Event{ID: int64(*w.ID), SystemID: w.Node, Hostname: w.Hostname, Level: w.Level, Type: w.Type,
		Description: w.Description, Username: w.Username, Created: created}
	return nil
}

// EventFilter selects events.
type EventFilter struct {
	SystemIDs []string // at most 200; none means all machines
	Level     string   // this level and above: DEBUG, INFO, WARNING, ERROR, CRITICAL, AUDIT; "" is MAAS's default, INFO
	After     int64    // only events with a greater ID, oldest page first; 0 means the newest page
	Limit     int      // at most 1000; 0 is MAAS's default, 100
}

// EventPage is one page of events, newest first.
type EventPage struct {
	Events []Event
	// LastID is what to pass as After for the next page: the greatest ID seen, or the filter's After if the page is empty.
	LastID int64
}

// Events reads one page of the event log.
func (c *Client) Events(ctx context.Context, filter EventFilter) (EventPage, error) {
	r := read("query_events", "events/")
	if len(filter.SystemIDs) > maxIDsPerRequest {
		return EventPage{}, invalid(r.operation, "at most 200 system IDs can be asked for at once; leave them out to see all machines")
	}
	f := fields{}.add("op", "query").add("level", filter.Level).addEach("id", filter.SystemIDs).addPositive("limit", filter.Limit)
	if filter.After > 0 {
		f.add("after", strconv.FormatInt(filter.After, 10))
	}
	r.query = f.values()
	page := EventPage{LastID: filter.After}
	err := c.do(ctx, r, whole(func(body []byte) error {
		var answer struct {
			Events *[]Event `json:"events"`
		}
		if err := decodeObject(body, &answer); err != nil {
			return err
		}
		if answer.Events == nil {
			return mustHave("events", "")
		}
		page.Events = *answer.Events
		return nil
	}))
	for _, e := range page.Events {
		page.LastID = max(page.LastID, e.ID)
	}
	return page, err
}
