package simulator

import "maps"

// View is a copy of what a region held at one moment, to be read. It takes
// about as much memory as the region does.
type View struct {
	state *state
	of    *Region
	// changes is Region.changes when it was made.
	changes uint64
}

// View copies what the region holds now. What happens later does not change the
// copy. With 5,000 machines it takes some milliseconds, in which the region
// does nothing else.
func (r *Region) View() *View {
	return r.Renew(nil)
}

// Renew is View for somebody who has an older one: that is returned if nothing
// has changed since.
func (r *Region) Renew(old *View) *View {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old != nil && old.of == r && old.changes == r.changes {
		return old
	}
	return &View{state: r.state.clone(), of: r, changes: r.changes}
}

// SetDNSView has the DNS server answer from a copy of the region, as when zones
// are not written any more; nil for the region as it is.
func (r *Region) SetDNSView(v *View) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dnsView = v
}

// clone copies the state: all rows, with their pointers to each other. What
// rows have in slices and maps is shared, because it is replaced and never
// changed in place; so are events, which nothing changes.
func (s *state) clone() *state {
	out := *s
	out.users, out.zones, out.pools, out.tags = cloneTable(s.users, nil), cloneTable(s.zones, nil), cloneTable(s.pools, nil), cloneTable(s.tags, nil)
	out.domains, out.resources, out.records = cloneTable(s.domains, nil), cloneTable(s.resources, nil), cloneTable(s.records, nil)
	out.images, out.files, out.contents = cloneTable(s.images, nil), cloneTable(s.files, nil), cloneTable(s.contents, nil)
	out.fabrics = cloneTable(s.fabrics, nil)
	out.vlans = cloneTable(s.vlans, func(v *vlan) { v.fabric = moved(v.fabric, s.fabrics, out.fabrics, fabricKey) })
	out.subnets = cloneTable(s.subnets, func(n *subnet) { n.vlan = moved(n.vlan, s.vlans, out.vlans, vlanKey) })
	out.spaces = cloneTable(s.spaces, nil)
	out.ranges = cloneTable(s.ranges, func(r *ipRange) { r.subnet = moved(r.subnet, s.subnets, out.subnets, subnetKey) })
	out.addresses = cloneTable(s.addresses, func(a *address) { a.subnet = moved(a.subnet, s.subnets, out.subnets, subnetKey) })
	out.tokens = cloneTable(s.tokens, func(k *token) { k.owner = moved(k.owner, s.users, out.users, userKey) })
	wires := s.wireRoom()
	out.machines = cloneTable(s.machines, func(m *machine) {
		m.token = moved(m.token, s.tokens, out.tokens, tokenKey)
		m.nics = wires.clone(m.nics, s, &out)
	})
	out.vmHosts = cloneTable(s.vmHosts, func(h *vmHost) { h.subnet = moved(h.subnet, s.subnets, out.subnets, subnetKey) })
	out.events = s.events[:len(s.events):len(s.events)]
	out.byAddress, out.latestEvent, out.settings = maps.Clone(s.byAddress), maps.Clone(s.latestEvent), maps.Clone(s.settings)
	out.nonces = nil // credentials are never checked against a copy
	return &out
}

func fabricKey(f *fabric) int  { return f.id }
func vlanKey(v *vlan) int      { return v.id }
func subnetKey(n *subnet) int  { return n.id }
func userKey(u *user) string   { return u.name }
func tokenKey(k *token) string { return k.key }

// wireRoom is room for the copies of all interfaces and links, taken at once:
// one piece of memory for each takes longer than to copy it.
type wireRoom struct {
	nics  []nic
	links []link
}

func (s *state) wireRoom() *wireRoom {
	nics, links := 0, 0
	for _, m := range s.machines.rows {
		nics += len(m.nics)
		for i := range m.nics {
			links += len(m.nics[i].links)
		}
	}
	return &wireRoom{nics: make([]nic, 0, nics), links: make([]link, 0, links)}
}

// clone copies the interfaces of a machine from one state to another.
func (w *wireRoom) clone(nics []nic, from, to *state) []nic {
	first := len(w.nics)
	w.nics = append(w.nics, nics...)
	out := w.nics[first:len(w.nics):len(w.nics)]
	for i := range out {
		n := &out[i]
		n.vlan = moved(n.vlan, from.vlans, to.vlans, vlanKey)
		first := len(w.links)
		w.links = append(w.links, n.links...)
		n.links = w.links[first:len(w.links):len(w.links)]
		for j := range n.links {
			n.links[j].subnet = moved(n.links[j].subnet, from.subnets, to.subnets, subnetKey)
		}
	}
	return out
}

// cloneTable copies a table and its rows; follow makes what is left of a row.
func cloneTable[K comparable, R any](t *table[K, *R], follow func(*R)) *table[K, *R] {
	n := len(t.keys)
	out := &table[K, *R]{rows: make(map[K]*R, n), keys: t.keys[:n:n], ordered: make([]*R, n), last: t.last}
	rows := make([]R, n)
	for i, key := range t.keys {
		row := &rows[i]
		out.ordered[i] = row
		*row = *t.ordered[i]
		if follow != nil {
			follow(row)
		}
		out.rows[key] = row
	}
	return out
}

// moved is what a pointer to a row becomes when the row's table was copied. A
// row that is in no table any more gets a copy of its own.
func moved[K comparable, R any](row *R, from, to *table[K, *R], key func(*R) K) *R {
	if row == nil {
		return nil
	}
	if k := key(row); from.rows[k] == row {
		return to.rows[k]
	}
	out := *row
	return &out
}
