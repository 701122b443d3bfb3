package simulator

import (
	"net/http"
	"net/netip"
	"slices"
)

// claimAddresses gives each AUTO link of a machine an address, or none any.
func (t *tx) claimAddresses(m *machine) *refusal {
	for _, n := range m.nics {
		for _, l := range n.links {
			row, ok := t.addresses.get(l.addr)
			if !ok || row.kind != allocAuto || row.ip.IsValid() || l.subnet == nil {
				continue
			}
			ip := t.freeAddress(l.subnet)
			if !ip.IsValid() {
				return l.subnet.full()
			}
			t.setIP(row, ip)
		}
	}
	return nil
}

// dropAddresses takes a machine's AUTO addresses away. Their rows stay.
func (t *tx) dropAddresses(m *machine) {
	for _, n := range m.nics {
		for _, l := range n.links {
			if row, ok := t.addresses.get(l.addr); ok && row.kind == allocAuto && row.ip.IsValid() {
				t.setIP(row, netip.Addr{})
			}
		}
	}
}

// freeAddress is the lowest address of a subnet that nothing uses.
func (t *tx) freeAddress(n *subnet) netip.Addr {
	if n.exhausted {
		return netip.Addr{}
	}
	for ip := n.prefix.Addr().Next(); n.prefix.Contains(ip); ip = ip.Next() {
		if len(t.byAddress[ip]) == 0 && !n.reservedAddr(ip) {
			return ip
		}
	}
	return netip.Addr{}
}

// full is the answer when freeAddress finds none.
func (n *subnet) full() *refusal {
	return text(http.StatusServiceUnavailable, "No more IPs available in subnet: "+n.prefix.String()+".")
}

// reservedAddr says that no machine gets an address: that of the gateway, of a
// DNS server, the broadcast address, or one of a reserved or dynamic range.
func (n *subnet) reservedAddr(ip netip.Addr) bool {
	if ip == n.gateway || (ip.Is4() && !n.prefix.Contains(ip.Next())) {
		return true
	}
	holds := func(r addrRange) bool { return r.contains(ip) }
	return slices.Contains(n.dnsServers, ip) || slices.ContainsFunc(n.reserved, holds) || slices.ContainsFunc(n.dynamic, holds)
}
