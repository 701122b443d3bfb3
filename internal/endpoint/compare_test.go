package endpoint

import (
	"fmt"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

var ours = Record{Name: "c1", Domain: "maas", Token: "tok", Owner: "ns/c1"}

// resource makes a record of ours; an address "ip@id" is on machine id, "" and "@id" are rows without an address.
func resource(id int, addresses ...string) maas.DNSResource {
	ttl := AddressTTL
	r := maas.DNSResource{ID: id, FQDN: "c1.maas", AddressTTL: &ttl, Records: []maas.DNSRecord{{Type: "TXT", Data: ours.mark()}}}
	for _, address := range addresses {
		r.Addresses = append(r.Addresses, row(address))
	}
	return r
}

func row(text string) maas.DNSAddress {
	for i, c := range text {
		if c == '@' {
			return maas.DNSAddress{IP: text[:i], SystemIDs: []string{text[i+1:]}}
		}
	}
	return maas.DNSAddress{IP: text}
}

func foreign(id int, addresses ...string) maas.DNSResource {
	r := resource(id, addresses...)
	r.Records = nil
	return r
}

func withTTL(r maas.DNSResource, ttl *int) maas.DNSResource {
	r.AddressTTL = ttl
	return r
}

func list(resources ...maas.DNSResource) []maas.DNSResource { return resources }

func TestDecide(t *testing.T) {
	t.Parallel()
	members := func(complete bool, addresses ...string) change {
		m := &Members{Complete: complete}
		for _, address := range addresses {
			r := row(address)
			m.SystemIDs = append(m.SystemIDs, r.SystemIDs...)
			if r.IP != "" {
				m.Addresses = append(m.Addresses, r.IP)
			}
		}
		return change{members: m}
	}
	unused := func(c change) change { c.members.Unused = true; return c }
	leave := func(id string, addresses ...string) change { return change{leave: &departure{id, addresses}} }
	sixty := 60
	for name, test := range map[string]struct {
		found []maas.DNSResource
		want  change
		get   string
	}{
		"nothing there":                              {nil, change{}, "none"},
		"a foreign record":                           {list(foreign(3, "10.0.0.1")), change{}, "none foreign"},
		"as it should be":                            {list(resource(3, "10.0.0.1", "10.0.0.2")), change{}, "3"},
		"order does not matter":                      {list(resource(3, "10.0.0.2", "10.0.0.1")), change{}, "3"},
		"another TTL":                                {list(withTTL(resource(3, "10.0.0.1"), &sixty)), change{}, "3 write [10.0.0.1]"},
		"no TTL":                                     {list(withTTL(resource(3), nil)), change{}, "3 write []"},
		"a null row is written away":                 {list(resource(3, "10.0.0.1", "")), change{}, "3 write [10.0.0.1]"},
		"only a null row":                            {list(resource(3, "@gone")), members(true), "3 write []"},
		"duplicates keep the lowest":                 {list(resource(9, "10.0.0.9"), resource(3, "10.0.0.1"), resource(5)), change{}, "3 write [10.0.0.1 10.0.0.9] drop [5 9]"},
		"duplicates alike":                           {list(resource(3, "10.0.0.1"), resource(5, "10.0.0.1")), change{}, "3 drop [5]"},
		"foreign beside ours":                        {list(foreign(1, "10.0.0.7"), resource(3, "10.0.0.1")), change{}, "3 foreign"},
		"join":                                       {list(resource(3, "10.0.0.1")), change{join: "10.0.0.2"}, "3 write [10.0.0.1 10.0.0.2]"},
		"join again":                                 {list(resource(3, "10.0.0.1")), change{join: "10.0.0.1"}, "3"},
		"join an address written otherwise":          {list(resource(3, "fd00::1")), change{join: "fd00:0::0001"}, "3"},
		"join as the first":                          {list(resource(3)), change{join: "10.0.0.1"}, "3 write [10.0.0.1]"},
		"leave by address":                           {list(resource(3, "10.0.0.1", "10.0.0.2")), leave("", "10.0.0.2"), "3 write [10.0.0.1]"},
		"leave by machine":                           {list(resource(3, "10.0.0.1@aaa", "10.0.0.2@bbb")), leave("bbb"), "3 write [10.0.0.1]"},
		"the last may leave":                         {list(resource(3, "10.0.0.1@aaa")), leave("aaa"), "3 write []"},
		"leave twice":                                {list(resource(3, "10.0.0.1@aaa")), leave("bbb", "10.0.0.2"), "3"},
		"leave nothing named":                        {list(resource(3, "10.0.0.1")), leave("", ""), "3"},
		"members stay":                               {list(resource(3, "10.0.0.1", "10.0.0.2@bbb")), members(true, "10.0.0.1", "@bbb"), "3"},
		"a member that is missing is not added":      {list(resource(3, "10.0.0.1")), members(true, "10.0.0.1", "10.0.0.2"), "3"},
		"a stranger's machine goes":                  {list(resource(3, "10.0.0.1@aaa", "10.0.0.2@zzz")), members(true, "10.0.0.1@aaa"), "3 write [10.0.0.1]"},
		"even as the last":                           {list(resource(3, "10.0.0.2@zzz")), members(true, "10.0.0.1@aaa"), "3 write []"},
		"even while statuses are missing":            {list(resource(3, "10.0.0.2@zzz")), members(false, "@aaa"), "3 write []"},
		"our former address on a stranger's machine": {list(resource(3, "10.0.0.1@zzz")), members(true, "10.0.0.1@aaa"), "3 write []"},
		"a stray address goes":                       {list(resource(3, "10.0.0.1", "10.0.0.7")), members(true, "10.0.0.1"), "3 write [10.0.0.1]"},
		"a stray address stays while statuses are missing": {list(resource(3, "10.0.0.1", "10.0.0.7")), members(false, "10.0.0.1"), "3"},
		"observation does not empty":                       {list(resource(3, "10.0.0.7")), members(true, "10.0.0.1"), "3"},
		"unless nobody uses the record yet":                {list(resource(3, "10.0.0.7")), unused(members(true)), "3 write []"},
		"a member stays even then":                         {list(resource(3, "10.0.0.1")), unused(members(true, "10.0.0.1")), "3"},
		"no members at all do not empty":                   {list(resource(3, "10.0.0.7")), members(true), "3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := decide(ours, test.found, test.want).String(); got != test.get {
				t.Errorf("decided %q, want %q", got, test.get)
			}
		})
	}
}

func (d decision) String() string {
	text := "none"
	if d.found {
		text = fmt.Sprint(d.id)
	}
	if d.write {
		text += fmt.Sprint(" write ", d.set)
	}
	if len(d.surplus) > 0 {
		text += fmt.Sprint(" drop ", d.surplus)
	}
	if d.foreign {
		text += " foreign"
	}
	return text
}
