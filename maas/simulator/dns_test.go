package simulator_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// ask queries the DNS server and prints code and answers in short.
func ask(t *testing.T, network, addr, name string, qtype uint16) string {
	t.Helper()
	query := new(dns.Msg).SetQuestion(dns.Fqdn(name), qtype)
	reply, _, err := (&dns.Client{Net: network}).Exchange(query, addr)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{dns.RcodeToString[reply.Rcode]}
	var records []string
	for _, rr := range reply.Answer {
		fields := strings.Fields(rr.String())
		records = append(records, fields[1]+" "+strings.Join(fields[3:], " "))
	}
	slices.Sort(records)
	out = append(out, records...)
	if len(reply.Answer) == 0 && len(reply.Ns) == 1 {
		out = append(out, "negative TTL "+fmt.Sprint(reply.Ns[0].(*dns.SOA).Minttl))
	}
	return strings.Join(out, "; ")
}

func TestServingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	region, err := simulator.New(simulator.Config{DNSAddr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	server, err := region.Start(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ask(t, "tcp", server.DNSAddr, "maas", dns.TypeSOA)
	api, _, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), "/")
	end()
	for _, addr := range []string{server.DNSAddr, api} {
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
			if err != nil {
				break
			}
			_ = conn.Close()
			if time.Now().After(deadline) {
				t.Fatalf("%s still answers", addr)
			}
		}
	}
	if err := server.Close(); err != nil {
		t.Errorf("closing it then: %v", err)
	}
}

func TestDNSServerAnswersForMachinesAndResources(t *testing.T) {
	t.Parallel()
	ttl := 60
	_, server, client, _ := start(t, simulator.Config{
		Machines: []simulator.Machine{{Hostname: "m-1"}, {Hostname: "M-2", Domain: "c1.example"}},
		Domains:  []simulator.Domain{{Name: "maas"}, {Name: "c1.example", TTL: &ttl}, {Name: "dark.example", Unserved: true}},
		DNSAddr:  "127.0.0.1:0",
	})
	ctx := t.Context()
	for range 2 {
		m, err := client.Allocate(ctx, maas.AllocateParams{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Deploy(ctx, m.SystemID, maas.DeployParams{}); err != nil {
			t.Fatal(err)
		}
	}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(client.CreateDNSResource(ctx, maas.DNSResourceParams{Name: "api", Domain: "maas", AddressTTL: 10, IPAddresses: []string{"10.20.0.3", "10.20.0.200", "fd00::7"}}))
	must(client.CreateDNSRecord(ctx, maas.DNSRecordParams{Name: "api", Domain: "maas", Type: "TXT", Data: "owner=c1 x", TTL: 15}))
	must(client.CreateDNSRecord(ctx, maas.DNSRecordParams{Name: "alias", Domain: "maas", Type: "CNAME", Data: "api.maas."}))
	must(client.CreateDNSResource(ctx, maas.DNSResourceParams{Name: "empty", Domain: "maas"}))
	must(client.CreateDNSResource(ctx, maas.DNSResourceParams{Name: "hidden", Domain: "dark.example", IPAddresses: []string{"10.20.0.201"}}))

	tests := []struct {
		name  string
		qtype uint16
		want  string
	}{
		{"m-1.maas", dns.TypeA, "NOERROR; 30 A 10.20.0.3"},
		{"M-1.MAAS", dns.TypeA, "NOERROR; 30 A 10.20.0.3"},
		{"eno1.m-1.maas", dns.TypeA, "NOERROR; 30 A 10.20.0.3"},
		{"m-2.c1.example", dns.TypeA, "NOERROR; 60 A 10.20.0.4"},
		{"m-1.maas", dns.TypeAAAA, "NOERROR; negative TTL 30"},
		{"nope.maas", dns.TypeA, "NXDOMAIN; negative TTL 30"},
		{"api.maas", dns.TypeA, "NOERROR; 10 A 10.20.0.200; 10 A 10.20.0.3"},
		{"api.maas", dns.TypeAAAA, "NOERROR; 10 AAAA fd00::7"},
		{"api.maas", dns.TypeTXT, `NOERROR; 15 TXT "owner=c1 x"`},
		{"alias.maas", dns.TypeA, "NOERROR; 10 A 10.20.0.200; 10 A 10.20.0.3; 30 CNAME api.maas."},
		{"empty.maas", dns.TypeA, "NXDOMAIN; negative TTL 30"},
		{"hidden.dark.example", dns.TypeA, "REFUSED"},
		{"example.org", dns.TypeA, "REFUSED"},
		{"maas", dns.TypeNS, "NOERROR; 30 NS maas.maas."},
		{"maas", dns.TypeA, "NOERROR; negative TTL 30"},
		{"3.0.20.10.in-addr.arpa", dns.TypePTR, "NOERROR; 30 PTR m-1.maas."},
		{"200.0.20.10.in-addr.arpa", dns.TypePTR, "NOERROR; 30 PTR api.maas."},
		{"250.0.20.10.in-addr.arpa", dns.TypePTR, "NXDOMAIN; negative TTL 30"},
		{"1.2.0.192.in-addr.arpa", dns.TypePTR, "REFUSED"},
	}
	for _, network := range []string{"udp", "tcp"} {
		for _, tt := range tests {
			if got := ask(t, network, server.DNSAddr, tt.name, tt.qtype); got != tt.want {
				t.Errorf("%s %s %s: %s, want %s", network, tt.name, dns.TypeToString[tt.qtype], got, tt.want)
			}
		}
	}
}

func TestDNSServerForwardsOtherNames(t *testing.T) {
	t.Parallel()
	_, upstream, client, _ := start(t, simulator.Config{Domains: []simulator.Domain{{Name: "up.example"}}, DNSAddr: "127.0.0.1:0"})
	if _, err := client.CreateDNSResource(t.Context(), maas.DNSResourceParams{Name: "a", Domain: "up.example", IPAddresses: []string{"192.0.2.1"}}); err != nil {
		t.Fatal(err)
	}
	_, server, _, _ := start(t, simulator.Config{DNSAddr: "127.0.0.1:0", DNSForwarder: upstream.DNSAddr})
	if got := ask(t, "udp", server.DNSAddr, "a.up.example", dns.TypeA); got != "NOERROR; 30 A 192.0.2.1" {
		t.Errorf("forwarded: %s", got)
	}
}

func TestReleasedAddressStaysInTheRecordAndReturns(t *testing.T) {
	t.Parallel()
	region, _, client, _ := start(t, simulator.Config{Machines: []simulator.Machine{{Hostname: "m-1"}}})
	ctx := t.Context()
	deploy := func() string {
		t.Helper()
		m, err := client.Allocate(ctx, maas.AllocateParams{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Deploy(ctx, m.SystemID, maas.DeployParams{}); err != nil {
			t.Fatal(err)
		}
		return m.SystemID
	}
	addresses := func() []string { return region.Snapshot().DNSResources[0].Addresses }
	id := deploy()
	if _, err := client.CreateDNSResource(ctx, maas.DNSResourceParams{Name: "api", Domain: "maas", IPAddresses: []string{"10.20.0.3"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Release(ctx, id, maas.ReleaseParams{}); err != nil {
		t.Fatal(err)
	}
	if got := addresses(); !slices.Equal(got, []string{""}) {
		t.Errorf("after the release the record holds %q, want one row without address", got)
	}
	deploy()
	if got := addresses(); !slices.Equal(got, []string{"10.20.0.3"}) {
		t.Errorf("after the next deploy the record holds %q, want the new tenant's address", got)
	}
	if err := region.OperatorDelete(id); err != nil {
		t.Fatal(err)
	}
	if left := region.Snapshot().DNSResources; len(left) != 0 {
		t.Errorf("deleting the machine left %+v", left)
	}
}
