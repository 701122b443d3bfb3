package simulator

// table holds rows by key, in the order in which they were made.
type table[K comparable, V any] struct {
	rows map[K]V
	keys []K
	last int
}

func newTable[K comparable, V any]() *table[K, V] { return &table[K, V]{rows: map[K]V{}} }

func (t *table[K, V]) get(key K) (V, bool) { v, ok := t.rows[key]; return v, ok }

// all returns the rows in order.
func (t *table[K, V]) all() []V {
	out := make([]V, 0, len(t.keys))
	for _, key := range t.keys {
		out = append(out, t.rows[key])
	}
	return out
}

func (t *table[K, V]) find(match func(V) bool) (V, bool) {
	for _, key := range t.keys {
		if match(t.rows[key]) {
			return t.rows[key], true
		}
	}
	var none V
	return none, false
}

func (t *table[K, V]) put(key K, row V) {
	if _, ok := t.rows[key]; !ok {
		t.keys = append(t.keys, key)
	}
	t.rows[key] = row
}

func (t *table[K, V]) remove(key K) {
	if _, ok := t.rows[key]; !ok {
		return
	}
	delete(t.rows, key)
	for i, k := range t.keys {
		if k == key {
			keys := make([]K, 0, len(t.keys)-1)
			t.keys = append(append(keys, t.keys[:i]...), t.keys[i+1:]...)
			return
		}
	}
}

// nextID draws the next number of a table. Like a database's sequence it is
// not given back when a transaction is undone.
func (t *table[K, V]) nextID() int { t.last++; return t.last }
