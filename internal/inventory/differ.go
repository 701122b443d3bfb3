package inventory

import (
	"maps"
	"slices"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// differ says whether two looks at a machine differ in what somebody may care for. What MAAS adds while an installation goes on,
// such as its status message, does not matter, nor does the order of lists in which order means nothing.
func differ(a, b *maas.Machine) bool {
	return a.Status != b.Status || a.Owner != b.Owner || a.PowerState != b.PowerState || a.Locked != b.Locked ||
		a.Zone.Name != b.Zone.Name || a.Pool.Name != b.Pool.Name ||
		a.Hostname != b.Hostname || a.FQDN != b.FQDN ||
		a.ErrorDescription != b.ErrorDescription || a.EphemeralDeploy != b.EphemeralDeploy ||
		a.OSystem != b.OSystem || a.DistroSeries != b.DistroSeries ||
		!maps.Equal(a.Annotations, b.Annotations) ||
		!sameSet(a.Tags, b.Tags) ||
		!slices.Equal(a.IPAddresses, b.IPAddresses) || // the first one may count
		!slices.Equal(addresses(a), addresses(b))
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// addresses lists where each address of a machine is.
func addresses(m *maas.Machine) []string {
	var all []string
	add := func(i maas.Interface) {
		for _, link := range i.Links {
			subnet := ""
			if link.Subnet != nil {
				subnet = link.Subnet.CIDR
			}
			all = append(all, i.Name+" "+link.IPAddress+" "+subnet)
		}
	}
	if m.BootInterface != nil {
		add(*m.BootInterface)
	}
	for _, i := range m.Interfaces {
		add(i)
	}
	return all
}
