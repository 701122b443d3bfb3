package simulator

import (
	"net/netip"
	"slices"
	"time"
)

// tx is one transaction on the region's state. It is made and ended with the
// region's lock held, and only touches what it can undo.
type tx struct {
	*state
	r    *Region
	undo []func()
	// after holds what runs once the transaction is committed, before the
	// answer leaves, each in a transaction of its own.
	after []func(*tx) *refusal
	// work holds what hardware does later; it runs without the lock.
	work []work
}

// work is something that happens outside the request: at once when delay is
// zero, else when that much time has passed.
type work struct {
	delay time.Duration
	run   func()
	// outcome is nil when the request does not wait for it.
	outcome *outcome
}

func (t *tx) now() time.Time { return t.r.clock.Now() }

// edit makes a row ready to be changed: an undone transaction puts back what it
// was.
func edit[T any](t *tx, row *T) *T {
	saved := *row
	t.undo = append(t.undo, func() { *row = saved })
	return row
}

// insert adds a row to a table.
func insert[K comparable, V any](t *tx, in *table[K, V], key K, row V) {
	in.put(key, row)
	t.undo = append(t.undo, func() { in.remove(key) })
}

// remove deletes a row from a table.
func remove[K comparable, V any](t *tx, from *table[K, V], key K) {
	row, ok := from.get(key)
	if !ok {
		return
	}
	keys, ordered := from.keys, from.ordered
	from.remove(key)
	t.undo = append(t.undo, func() { from.rows[key], from.keys, from.ordered = row, keys, ordered })
}

// afterCommit queues what runs when the transaction has been committed. A
// refusal it returns becomes the answer, though the commit stands.
func (t *tx) afterCommit(f func(*tx) *refusal) { t.after = append(t.after, f) }

// later queues what hardware does.
func (t *tx) later(delay time.Duration, run func()) {
	t.work = append(t.work, work{delay: delay, run: run})
}

func (t *tx) rollback() {
	for i := len(t.undo) - 1; i >= 0; i-- {
		t.undo[i]()
	}
	t.undo, t.after, t.work = nil, nil, nil
}

// setIP changes the address of a row and keeps the index of addresses.
func (t *tx) setIP(row *address, ip netip.Addr) {
	edit(t, row)
	if row.ip.IsValid() {
		t.index(row.ip, without(t.byAddress[row.ip], row.id))
	}
	row.ip = ip
	if ip.IsValid() {
		t.index(ip, append(t.byAddress[ip][:len(t.byAddress[ip]):len(t.byAddress[ip])], row.id))
	}
	t.touchDNS()
}

func (t *tx) index(ip netip.Addr, ids []int) {
	saved := t.byAddress[ip]
	set := func(ids []int) {
		if len(ids) == 0 {
			delete(t.byAddress, ip)
		} else {
			t.byAddress[ip] = ids
		}
	}
	set(ids)
	t.undo = append(t.undo, func() { set(saved) })
}

// touchDNS says that a zone's content may have changed.
func (t *tx) touchDNS() { t.dnsSerial++ }

// without returns a copy of a list that does not hold item.
func without[T comparable](list []T, item T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(other T) bool { return other == item })
}
