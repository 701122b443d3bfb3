package simulator

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"
)

// answerDNS answers a query from the region's zones; nil when it is about
// none of them.
func (r *Region) answerDNS(query *dns.Msg) *dns.Msg {
	reply := new(dns.Msg)
	reply.SetReply(query)
	reply.RecursionAvailable = r.cfg.DNSForwarder != ""
	if len(query.Question) != 1 {
		return reply.SetRcode(query, dns.RcodeFormatError)
	}
	question := query.Question[0]
	name := strings.TrimSuffix(strings.ToLower(question.Name), ".")
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.state
	if r.dnsView != nil {
		s = r.dnsView.state
	}
	zone, records, exists := s.lookup(name)
	if zone == "" {
		return nil
	}
	reply.Authoritative = true
	for _, rr := range records {
		if question.Qtype == rr.Header().Rrtype || question.Qtype == dns.TypeANY || rr.Header().Rrtype == dns.TypeCNAME {
			rr.Header().Name = question.Name
			reply.Answer = append(reply.Answer, rr)
		}
	}
	s.followAlias(reply, question)
	if len(reply.Answer) == 0 {
		if !exists {
			reply.Rcode = dns.RcodeNameError
		}
		reply.Ns = append(reply.Ns, s.soa(zone))
	}
	return reply
}

// followAlias adds what the target of a CNAME has, if the region knows it.
func (s *state) followAlias(reply *dns.Msg, question dns.Question) {
	if len(reply.Answer) != 1 || question.Qtype == dns.TypeCNAME {
		return
	}
	alias, ok := reply.Answer[0].(*dns.CNAME)
	if !ok {
		return
	}
	_, records, _ := s.lookup(strings.TrimSuffix(strings.ToLower(alias.Target), "."))
	for _, rr := range records {
		if rr.Header().Rrtype == question.Qtype {
			reply.Answer = append(reply.Answer, rr)
		}
	}
}

// lookup finds the zone of a name, its records, and whether the name exists.
// zone is "" when the region does not answer for the name.
func (s *state) lookup(name string) (zone string, records []dns.RR, exists bool) {
	if ip, ok := reverseAddress(name); ok {
		return s.lookupReverse(name, ip)
	}
	var d *domain
	for _, candidate := range s.domains.all() {
		lower := strings.ToLower(candidate.name)
		if candidate.authoritative && (name == lower || strings.HasSuffix(name, "."+lower)) && (d == nil || len(candidate.name) > len(d.name)) {
			d = candidate
		}
	}
	if d == nil {
		return "", nil, false
	}
	zone = strings.ToLower(d.name)
	host := strings.TrimSuffix(strings.TrimSuffix(name, zone), ".")
	if host == "" {
		host = apexName
		records = append(records, s.soa(zone), s.ns(zone))
	}
	found := s.recordsAt(d, host, name)
	if len(found) == 0 && host != apexName && !s.hasBelow(d, host) {
		found = s.recordsAt(d, "*", name)
	}
	records = append(records, found...)
	return zone, records, len(records) > 0 || s.hasBelow(d, host)
}

// recordsAt are the records of one name in a domain, of machines and resources.
func (s *state) recordsAt(d *domain, host, name string) []dns.RR {
	ttl := s.recordTTL()
	if d.ttl != nil {
		ttl = uint32(*d.ttl)
	}
	var out []dns.RR
	seen := map[netip.Addr]bool{}
	add := func(ip netip.Addr, ttl uint32) {
		if ip.IsValid() && !seen[ip] {
			seen[ip] = true
			out = append(out, addressRecord(name, ip, ttl))
		}
	}
	for _, res := range s.resources.all() {
		if res.domain != d.id || !strings.EqualFold(res.name, host) {
			continue
		}
		addressTTL := ttl
		if res.ttl != nil {
			addressTTL = uint32(*res.ttl)
		}
		for _, id := range res.addrs {
			if row, ok := s.addresses.get(id); ok {
				add(row.ip, addressTTL)
			}
		}
		for _, rec := range s.recordsOf(res.id) {
			if rr := dataRecord(name, rec, ttl); rr != nil {
				out = append(out, rr)
			}
		}
	}
	for _, m := range s.machines.ordered {
		// All names of a machine end with its hostname.
		if m.domain != d.id || !endsFolded(host, m.hostname) {
			continue
		}
		for i, n := range m.nics {
			atHost := i == 0 && strings.EqualFold(m.hostname, host)
			if !atHost && !strings.EqualFold(n.name+"."+m.hostname, host) {
				continue
			}
			for _, l := range n.links {
				if row, ok := s.addresses.get(l.addr); ok {
					add(row.ip, ttl)
				}
			}
		}
	}
	return out
}

// endsFolded says whether a name ends with another, whatever their case.
func endsFolded(name, end string) bool {
	return len(name) >= len(end) && strings.EqualFold(name[len(name)-len(end):], end)
}

// hasBelow says whether names below host exist, so that host exists without
// having records.
func (s *state) hasBelow(d *domain, host string) bool {
	if host == apexName {
		return true
	}
	for _, m := range s.machines.ordered {
		if m.domain == d.id && len(m.hostname) == len(host) && strings.EqualFold(m.hostname, host) && len(s.machineAddresses(m)) > 0 {
			return true
		}
	}
	return false
}

func addressRecord(name string, ip netip.Addr, ttl uint32) dns.RR {
	if ip.Is4() {
		return &dns.A{Hdr: dns.RR_Header{Name: dns.Fqdn(name), Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: ttl}, A: ip.AsSlice()}
	}
	return &dns.AAAA{Hdr: dns.RR_Header{Name: dns.Fqdn(name), Rrtype: dns.TypeAAAA, Class: dns.ClassINET, Ttl: ttl}, AAAA: ip.AsSlice()}
}

// maxTXT is the length of one string of a TXT record.
const maxTXT = 255

// dataRecord is a record that a user made; nil when its data cannot be read.
func dataRecord(name string, rec *dnsRecord, ttl uint32) dns.RR {
	if rec.ttl != nil {
		ttl = uint32(*rec.ttl)
	}
	hdr := dns.RR_Header{Name: dns.Fqdn(name), Rrtype: dns.StringToType[rec.rrtype], Class: dns.ClassINET, Ttl: ttl}
	if rec.rrtype == "TXT" && !strings.HasPrefix(rec.data, `"`) {
		txt := &dns.TXT{Hdr: hdr}
		for rest := rec.data; rest != ""; {
			n := min(len(rest), maxTXT)
			txt.Txt = append(txt.Txt, rest[:n])
			rest = rest[n:]
		}
		return txt
	}
	rr, err := dns.NewRR(dns.Fqdn(name) + " IN " + rec.rrtype + " " + rec.data)
	if err != nil || rr == nil {
		return nil
	}
	rr.Header().Ttl = ttl
	return rr
}

func (s *state) soa(zone string) dns.RR {
	return &dns.SOA{
		Hdr: dns.RR_Header{Name: dns.Fqdn(zone), Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: s.recordTTL()},
		Ns:  dns.Fqdn(zone), Mbox: "nobody.example.com.", Serial: s.dnsSerial, Refresh: 600, Retry: 1800, Expire: 604800, Minttl: s.recordTTL(),
	}
}

func (s *state) ns(zone string) dns.RR {
	return &dns.NS{Hdr: dns.RR_Header{Name: dns.Fqdn(zone), Rrtype: dns.TypeNS, Class: dns.ClassINET, Ttl: s.recordTTL()}, Ns: "maas." + dns.Fqdn(zone)}
}
