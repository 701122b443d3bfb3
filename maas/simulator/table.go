package simulator

import (
	"slices"
	"strconv"
)

// table holds rows by key, in the order in which they were made.
type table[K comparable, V any] struct {
	rows map[K]V
	// keys and ordered are the keys and rows in order. Nothing is taken out of
	// them or replaced in place: whoever holds one of an earlier time may go on
	// reading it.
	keys    []K
	ordered []V
	last    int
}

func newTable[K comparable, V any]() *table[K, V] { return &table[K, V]{rows: map[K]V{}} }

func (t *table[K, V]) get(key K) (V, bool) { v, ok := t.rows[key]; return v, ok }

// all returns the rows in order.
func (t *table[K, V]) all() []V { return append(make([]V, 0, len(t.ordered)), t.ordered...) }

func (t *table[K, V]) find(match func(V) bool) (V, bool) {
	for _, row := range t.ordered {
		if match(row) {
			return row, true
		}
	}
	var none V
	return none, false
}

// numbered finds the row whose number a path or form gives.
func numbered[V any](in *table[int, V], text string) (V, bool) {
	id, err := strconv.Atoi(text)
	if err != nil {
		var none V
		return none, false
	}
	return in.get(id)
}

func (t *table[K, V]) put(key K, row V) {
	if _, ok := t.rows[key]; ok {
		t.ordered = slices.Clone(t.ordered)
		t.ordered[slices.Index(t.keys, key)] = row
	} else {
		t.keys, t.ordered = append(t.keys, key), append(t.ordered, row)
	}
	t.rows[key] = row
}

func (t *table[K, V]) remove(key K) {
	if _, ok := t.rows[key]; !ok {
		return
	}
	delete(t.rows, key)
	i := slices.Index(t.keys, key)
	t.keys, t.ordered = withoutIndex(t.keys, i), withoutIndex(t.ordered, i)
}

func withoutIndex[T any](list []T, i int) []T {
	return append(append(make([]T, 0, len(list)), list[:i]...), list[i+1:]...)
}

// nextID draws the next number of a table. Like a database's sequence it is
// not given back when a transaction is undone.
func (t *table[K, V]) nextID() int { t.last++; return t.last }
