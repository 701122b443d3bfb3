package simulator

import (
	"fmt"
	"math/big"
	"net/netip"
	"slices"
)

// usedRange is a part of a subnet and what it is used for; for nothing when
// purposes is empty.
type usedRange struct {
	addrRange
	purposes []string
}

type usedRangeJSON struct {
	Start   string   `json:"start"`
	End     string   `json:"end"`
	Count   *big.Int `json:"num_addresses"`
	Purpose []string `json:"purpose,omitempty"`
}

func listUsedRanges(c *call) (*answer, *refusal) {
	return c.answerRanges(func(r usedRange) bool { return len(r.purposes) > 0 })
}

func listFreeRanges(c *call) (*answer, *refusal) {
	return c.answerRanges(func(r usedRange) bool { return len(r.purposes) == 0 })
}

func (c *call) answerRanges(wanted func(usedRange) bool) (*answer, *refusal) {
	n, refused := c.subnetOfPath()
	if refused != nil {
		return nil, refused
	}
	out := []usedRangeJSON{}
	for _, r := range c.usage(n) {
		if wanted(r) {
			out = append(out, usedRangeJSON{r.first.String(), r.last.String(), r.count(), r.purposes})
		}
	}
	return ok(out)
}

// hosts are the addresses of a subnet that something can have: all but the
// first, and in IPv4 but the last.
func (n *subnet) hosts() addrRange {
	last := n.prefix.Addr().AsSlice()
	for bit := n.prefix.Bits(); bit < len(last)*8; bit++ {
		last[bit/8] |= 1 << (7 - bit%8)
	}
	end, _ := netip.AddrFromSlice(last) // of an address's length
	out := addrRange{n.prefix.Addr().Next(), end}
	if end.Is4() {
		out.last = end.Prev()
	}
	if !out.first.IsValid() || out.last.Less(out.first) {
		return addrRange{n.prefix.Addr(), n.prefix.Addr()} // a network of one or two
	}
	return out
}

func (r addrRange) count() *big.Int {
	number := func(a netip.Addr) *big.Int { return new(big.Int).SetBytes(a.AsSlice()) }
	out := new(big.Int).Sub(number(r.last), number(r.first))
	return out.Add(out, big.NewInt(1))
}

// claims are what the addresses of a subnet are used for, in no order.
func (s *state) claims(n *subnet) []usedRange {
	var out []usedRange
	add := func(purpose string, ranges ...addrRange) {
		for _, r := range ranges {
			out = append(out, usedRange{r, []string{purpose}})
		}
	}
	if n.gateway.IsValid() {
		add("gateway-ip", addrRange{n.gateway, n.gateway})
	}
	for _, server := range n.dnsServers {
		add("dns-server", addrRange{server, server})
	}
	if hosts := n.hosts(); hosts.first.Is6() {
		// MAAS keeps the beginning of IPv6 networks, ::1 to ::ffff:ffff.
		last := n.prefix.Addr().As16()
		last[12], last[13], last[14], last[15] = 0xff, 0xff, 0xff, 0xff
		add("reserved", addrRange{hosts.first, netip.AddrFrom16(last)})
	}
	add("reserved", n.reserved...)
	add("dynamic", n.dynamic...)
	for ip := range s.byAddress {
		add("assigned-ip", addrRange{ip, ip})
	}
	hosts := n.hosts()
	return slices.DeleteFunc(out, func(r usedRange) bool { return !hosts.contains(r.first) })
}

// usage cuts a subnet into its used and free ranges, in order.
func (s *state) usage(n *subnet) []usedRange {
	hosts, claims := n.hosts(), s.claims(n)
	slices.SortFunc(claims, func(a, b usedRange) int { return a.first.Compare(b.first) })
	// Ranges begin where a claim begins or has ended.
	cuts := []netip.Addr{hosts.first}
	for _, r := range claims {
		cuts = append(cuts, r.first)
		if next := r.last.Next(); next.IsValid() && hosts.contains(next) {
			cuts = append(cuts, next)
		}
	}
	slices.SortFunc(cuts, netip.Addr.Compare)
	cuts = slices.Compact(cuts)
	var out []usedRange
	var open []usedRange // claims that may hold the range at hand
	for i, first := range cuts {
		for len(claims) > 0 && !first.Less(claims[0].first) {
			open, claims = append(open, claims[0]), claims[1:]
		}
		open = slices.DeleteFunc(open, func(r usedRange) bool { return r.last.Less(first) })
		part := usedRange{addrRange: addrRange{first, hosts.last}}
		if i+1 < len(cuts) {
			part.last = cuts[i+1].Prev()
		}
		for _, r := range open {
			part.purposes = append(part.purposes, r.purposes...)
		}
		slices.Sort(part.purposes)
		part.purposes = slices.Compact(part.purposes)
		if last := len(out) - 1; last >= 0 && slices.Equal(out[last].purposes, part.purposes) {
			out[last].last = part.last
			continue
		}
		out = append(out, part)
	}
	return out
}

type statisticsJSON struct {
	Available        *big.Int        `json:"num_available"`
	LargestAvailable *big.Int        `json:"largest_available"`
	Unavailable      *big.Int        `json:"num_unavailable"`
	Total            *big.Int        `json:"total_addresses"`
	Usage            jsonFloat       `json:"usage"`
	UsageString      string          `json:"usage_string"`
	AvailableString  string          `json:"available_string"`
	FirstAddress     string          `json:"first_address"`
	LastAddress      string          `json:"last_address"`
	IPVersion        int             `json:"ip_version"`
	Ranges           []usedRangeJSON `json:"ranges,omitempty"`
}

func readSubnetStatistics(c *call) (*answer, *refusal) {
	n, refused := c.subnetOfPath()
	if refused != nil {
		return nil, refused
	}
	withRanges, refused := c.query.boolean("include_ranges")
	if refused != nil {
		return nil, refused
	}
	hosts := n.hosts()
	out := statisticsJSON{
		Available: new(big.Int), LargestAvailable: new(big.Int), Unavailable: new(big.Int), Total: hosts.count(),
		FirstAddress: hosts.first.String(), LastAddress: hosts.last.String(), IPVersion: 4,
	}
	if hosts.first.Is6() {
		out.IPVersion = 6
	}
	for _, r := range c.usage(n) {
		count := r.count()
		shown := usedRangeJSON{r.first.String(), r.last.String(), count, r.purposes}
		if len(r.purposes) > 0 {
			out.Unavailable.Add(out.Unavailable, count)
		} else {
			shown.Purpose = []string{"unused"}
			out.Available.Add(out.Available, count)
			if count.Cmp(out.LargestAvailable) > 0 {
				out.LargestAvailable = count
			}
		}
		if withRanges {
			out.Ranges = append(out.Ranges, shown)
		}
	}
	share := func(part *big.Int) float64 {
		f, _ := new(big.Rat).SetFrac(part, out.Total).Float64()
		return f
	}
	out.Usage = jsonFloat(share(out.Unavailable))
	out.UsageString = fmt.Sprintf("%.0f%%", 100*share(out.Unavailable))
	out.AvailableString = fmt.Sprintf("%.0f%%", 100*share(out.Available))
	return ok(out)
}
