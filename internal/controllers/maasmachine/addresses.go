package maasmachine

import (
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// addressThatCounts returns the address by which a machine is reached: that of its boot interface, unless a subnet or an
// interface is chosen. It is "" while there is none.
func addressThatCounts(m *maas.Machine, from infrav1.AddressSelector) string {
	if from == (infrav1.AddressSelector{}) {
		if m.BootInterface != nil {
			if address := firstAddress(*m.BootInterface, ""); address != "" {
				return address
			}
		}
		// The boot interface may be a part of a bond or a bridge, which has the address then.
		if len(m.IPAddresses) > 0 {
			return m.IPAddresses[0]
		}
		return ""
	}
	for _, i := range m.Interfaces {
		if from.Interface != "" && i.Name != from.Interface {
			continue
		}
		if address := firstAddress(i, from.Subnet); address != "" {
			return address
		}
	}
	return ""
}

// firstAddress returns the first address of an interface, in the subnet if one is named by its name or CIDR.
func firstAddress(i maas.Interface, subnet string) string {
	for _, link := range i.Links {
		inSubnet := subnet == "" || link.Subnet != nil && (link.Subnet.Name == subnet || link.Subnet.CIDR == subnet)
		if link.IPAddress != "" && inSubnet {
			return link.IPAddress
		}
	}
	return ""
}

// addressesOf returns the addresses and names of a machine; the address that counts is first.
func addressesOf(m *maas.Machine, from infrav1.AddressSelector) []clusterv1.MachineAddress {
	var ips []string
	if counts := addressThatCounts(m, from); counts != "" {
		ips = append(ips, counts)
	}
	for _, ip := range m.IPAddresses {
		if !slices.Contains(ips, ip) {
			ips = append(ips, ip)
		}
	}
	var all []clusterv1.MachineAddress
	for _, ip := range ips {
		all = append(all, clusterv1.MachineAddress{Type: clusterv1.MachineInternalIP, Address: ip})
	}
	if m.Hostname != "" {
		all = append(all, clusterv1.MachineAddress{Type: clusterv1.MachineHostName, Address: m.Hostname})
	}
	if m.FQDN != "" {
		all = append(all, clusterv1.MachineAddress{Type: clusterv1.MachineInternalDNS, Address: m.FQDN})
	}
	all = slices.DeleteFunc(all, func(a clusterv1.MachineAddress) bool { return len([]rune(a.Address)) > maxText })
	return all[:min(len(all), maxAddresses)]
}
