package host

import (
	"fmt"
	"net"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// The network in which everything runs: one bridge, in the sandbox's own network namespace, without a way out.
const (
	// Bridge is the switch to which all machines are plugged.
	Bridge = "br0"
	// Subnet is the machines' network in CIDR notation.
	Subnet = "10.20.0.0/24"
	// Gateway is the machines' default gateway.
	Gateway = "10.20.0.1"
	// Region is the address of MAAS, its DNS and the management cluster.
	Region = "10.20.0.2"
	prefix = "/24"
)

// MakeNetwork makes the bridge, with the gateway's and the region's address, in the namespace of the caller.
func MakeNetwork() error {
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("finding the loopback: %w", err)
	}
	if err := netlink.LinkSetUp(loopback); err != nil {
		return fmt.Errorf("starting the loopback: %w", err)
	}
	attributes := netlink.NewLinkAttrs()
	attributes.Name = Bridge
	// Without an address of its own, the bridge's would change with the machines that come and go.
	attributes.HardwareAddr = net.HardwareAddr{0x52, 0x54, 0, 0x14, 0, 1}
	bridge := &netlink.Bridge{LinkAttrs: attributes}
	if err := netlink.LinkAdd(bridge); err != nil {
		return fmt.Errorf("making the bridge: %w", err)
	}
	for _, text := range []string{Gateway, Region} {
		address, err := netlink.ParseAddr(text + prefix)
		if err != nil {
			return fmt.Errorf("reading an address: %w", err)
		}
		if err := netlink.AddrAdd(bridge, address); err != nil {
			return fmt.Errorf("giving the bridge the address %s: %w", text, err)
		}
	}
	if err := netlink.LinkSetUp(bridge); err != nil {
		return fmt.Errorf("starting the bridge: %w", err)
	}
	// This is a setting of the network namespace: the host's is another one.
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644); err != nil {
		return fmt.Errorf("letting machines' packets through: %w", err)
	}
	return nil
}

// UseResolver makes everything in the sandbox's mount namespace ask the given name server. The host's file stays as it is.
func UseResolver(l Layout, address, domain string) error {
	const target = "/etc/resolv.conf"
	path := l.Run("resolv.conf")
	if err := os.WriteFile(path, fmt.Appendf(nil, "nameserver %s\nsearch %s\n", address, domain), 0o644); err != nil {
		return fmt.Errorf("writing the resolver's configuration: %w", err)
	}
	if _, err := os.Stat(target); err != nil {
		return fmt.Errorf("%s cannot be shadowed: %w (an empty file is enough)", target, err)
	}
	if err := unix.Mount(path, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("shadowing %s: %w", target, err)
	}
	return nil
}
