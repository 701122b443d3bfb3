package endpoint

import (
	"slices"
	"sync"
	"time"
)

// forgetAfter is when a record that nobody looked at is forgotten.
const forgetAfter = time.Hour

// memory holds what was last seen of each record. It saves requests of those who only look; nobody writes because of it.
type memory struct {
	mu   sync.Mutex
	seen map[Record]sighting
}

// sighting is what a record held at a time: when it was asked for, or when a write of ours was done.
type sighting struct {
	state State
	at    time.Time
}

// young returns what was seen at a given time or later.
func (m *memory) young(record Record, since time.Time) (State, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, known := m.seen[record]
	if !known || last.at.Before(since) {
		return State{}, false
	}
	return last.state.clone(), true
}

// found keeps what was read, and says whether addresses are missing since the last time that we saw or wrote the record. A look
// that began before what is known proves nothing.
func (m *memory) found(record Record, state State, began time.Time) (lost bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, known := m.seen[record]
	if known && began.Before(last.at) {
		return false
	}
	m.keep(record, state, began)
	return known && len(without(last.state.Addresses, state.Addresses)) > 0
}

// wrote keeps what a write of ours left.
func (m *memory) wrote(record Record, state State, done time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(record, state, done)
}

// forget drops what is known of a record, because a write had an unknown outcome or the record is gone.
func (m *memory) forget(record Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.seen, record)
}

func (m *memory) keep(record Record, state State, at time.Time) {
	if m.seen == nil {
		m.seen = map[Record]sighting{}
	}
	for other, last := range m.seen {
		if at.Sub(last.at) > forgetAfter {
			delete(m.seen, other)
		}
	}
	m.seen[record] = sighting{state: State{Exists: state.Exists, Addresses: slices.Clone(state.Addresses)}, at: at}
}

func (s State) clone() State {
	s.Addresses = slices.Clone(s.Addresses)
	return s
}
