package simulator

import (
	"net/http"
	"strconv"
)

// rangeOperations are the calls of IP ranges.
func rangeOperations() []operation {
	return []operation{
		{http.MethodGet, "/ipranges/", "", users, listRanges, ""},
		{http.MethodGet, "/ipranges/{id}/", "", users, readRange, ""},
	}
}

// ipRange is a part of a subnet that machines get no addresses from: reserved
// for other uses, or dynamic, for the DHCP server.
type ipRange struct {
	id      int
	subnet  *subnet
	dynamic bool
	addrRange
}

func (r *ipRange) kind() string {
	if r.dynamic {
		return "dynamic"
	}
	return "reserved"
}

type ipRangeJSON struct {
	ID          int         `json:"id"`
	Type        string      `json:"type"`
	StartIP     string      `json:"start_ip"`
	EndIP       string      `json:"end_ip"`
	Comment     string      `json:"comment"`
	User        *userJSON   `json:"user"`
	Subnet      *subnetJSON `json:"subnet"`
	ResourceURI string      `json:"resource_uri"`
}

func renderRange(r *ipRange) ipRangeJSON {
	return ipRangeJSON{
		ID: r.id, Type: r.kind(), StartIP: r.first.String(), EndIP: r.last.String(), Subnet: renderSubnet(r.subnet),
		ResourceURI: apiPrefix + "/ipranges/" + strconv.Itoa(r.id) + "/",
	}
}

func listRanges(c *call) (*answer, *refusal) {
	out := []ipRangeJSON{}
	for _, r := range c.ranges.all() {
		out = append(out, renderRange(r))
	}
	return ok(out)
}

func readRange(c *call) (*answer, *refusal) {
	r, found := numbered(c.ranges, c.vars["id"])
	if !found {
		return nil, notFound("IPRange")
	}
	return ok(renderRange(r))
}

// addRanges gives a subnet the ranges that its configuration names. The lock is
// held.
func (r *Region) addRanges(row *subnet, texts []string, dynamic bool) error {
	for _, text := range texts {
		parsed, err := parseRange(text)
		if err != nil {
			return err
		}
		id := r.state.ranges.nextID()
		r.state.ranges.put(id, &ipRange{id: id, subnet: row, dynamic: dynamic, addrRange: parsed})
		if dynamic {
			row.dynamic = append(row.dynamic, parsed)
		} else {
			row.reserved = append(row.reserved, parsed)
		}
	}
	return nil
}
