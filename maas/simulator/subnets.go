package simulator

import "net/http"

// subnetOperations are the calls of subnets.
func subnetOperations() []operation {
	return []operation{
		{http.MethodGet, "/subnets/", "", users, listSubnets, ""},
		{http.MethodPost, "/subnets/", "", admins, createSubnet, "An unmanaged subnet gives out addresses like any other; boot architectures are never disabled"},
		{http.MethodGet, "/subnets/{specifier...}/", "", users, readSubnet, ""},
		{http.MethodGet, "/subnets/{specifier...}/", "ip_addresses", users, listSubnetAddresses, ""},
		{http.MethodGet, "/subnets/{specifier...}/", "reserved_ip_ranges", users, listUsedRanges, ""},
		{http.MethodGet, "/subnets/{specifier...}/", "unreserved_ip_ranges", users, listFreeRanges, ""},
		{http.MethodGet, "/subnets/{specifier...}/", "statistics", users, readSubnetStatistics, "include_suggestions is ignored"},
	}
}

func listSubnets(c *call) (*answer, *refusal) {
	out := []*subnetJSON{}
	for _, n := range c.subnets.all() {
		out = append(out, renderSubnet(n))
	}
	return ok(out)
}

// subnetOfPath finds a subnet by ID, CIDR, name or specifier.
func (c *call) subnetOfPath() (*subnet, *refusal) {
	found := c.subnetsBySpecifier(c.vars["specifier"])
	if len(found) == 0 {
		return nil, notFound("Subnet")
	}
	return found[0], nil
}

func readSubnet(c *call) (*answer, *refusal) {
	n, refused := c.subnetOfPath()
	if refused != nil {
		return nil, refused
	}
	return ok(renderSubnet(n))
}
