package simulator

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"
)

// reverseAddress reads the address out of a name below in-addr.arpa or
// ip6.arpa.
func reverseAddress(name string) (netip.Addr, bool) {
	if rest, ok := strings.CutSuffix(name, ".in-addr.arpa"); ok {
		parts := strings.Split(rest, ".")
		if len(parts) != 4 {
			return netip.Addr{}, false
		}
		ip, err := netip.ParseAddr(parts[3] + "." + parts[2] + "." + parts[1] + "." + parts[0])
		return ip, err == nil
	}
	if rest, ok := strings.CutSuffix(name, ".ip6.arpa"); ok {
		nibbles := strings.Split(rest, ".")
		if len(nibbles) != 32 {
			return netip.Addr{}, false
		}
		var text strings.Builder
		for i := len(nibbles) - 1; i >= 0; i-- {
			text.WriteString(nibbles[i])
			if i > 0 && i%4 == 0 {
				text.WriteByte(':')
			}
		}
		ip, err := netip.ParseAddr(text.String())
		return ip, err == nil
	}
	return netip.Addr{}, false
}

// lookupReverse finds the names of an address. The region answers for the
// addresses of its subnets.
func (s *state) lookupReverse(name string, ip netip.Addr) (zone string, records []dns.RR, exists bool) {
	if s.subnetOf(ip) == nil {
		return "", nil, false
	}
	_, zone, _ = strings.Cut(name, ".")
	add := func(fqdn string) {
		records = append(records, &dns.PTR{
			Hdr: dns.RR_Header{Name: dns.Fqdn(name), Rrtype: dns.TypePTR, Class: dns.ClassINET, Ttl: s.recordTTL()}, Ptr: dns.Fqdn(fqdn),
		})
	}
	for _, id := range s.byAddress[ip] {
		if m, ok := s.machines.get(s.addresses.rows[id].machine); ok {
			add(s.fqdn(m))
		}
	}
	if len(records) == 0 {
		for _, res := range s.resources.all() {
			for _, id := range res.addrs {
				if row, ok := s.addresses.get(id); ok && row.ip == ip {
					add(s.resourceFQDN(res))
				}
			}
		}
	}
	return zone, records, len(records) > 0
}
