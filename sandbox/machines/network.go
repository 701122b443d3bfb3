package machines

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// cableName names the bridge's end of a machine's cable. Names of interfaces are short.
func cableName(systemID string) string {
	sum := sha256.Sum256([]byte(systemID))
	return "m-" + hex.EncodeToString(sum[:])[:10]
}

// plug connects the machine whose first process is pid to the bridge, through an interface with the MAC address that MAAS knows.
// The interface goes away with the machine.
func plug(bridge, cable string, pid int, nic simulator.BootInterface) error {
	mac, err := net.ParseMAC(nic.MAC)
	if err != nil {
		return fmt.Errorf("reading the MAC address: %w", err)
	}
	master, err := netlink.LinkByName(bridge)
	if err != nil {
		return fmt.Errorf("finding the bridge: %w", err)
	}
	attributes := netlink.NewLinkAttrs()
	attributes.Name, attributes.MasterIndex = cable, master.Attrs().Index
	veth := &netlink.Veth{
		LinkAttrs: attributes, PeerName: nic.Name, PeerHardwareAddr: mac, PeerNamespace: netlink.NsPid(pid),
	}
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("making the network cable: %w", err)
	}
	if err := netlink.LinkSetUp(veth); err != nil {
		return fmt.Errorf("plugging the cable in: %w", err)
	}
	return configure(pid, nic)
}

// configure gives the machine's interface its address and the way out, as DHCP would.
func configure(pid int, nic simulator.BootInterface) error {
	namespace, err := netns.GetFromPid(pid)
	if err != nil {
		return fmt.Errorf("opening the machine's network: %w", err)
	}
	defer namespace.Close()
	inside, err := netlink.NewHandleAt(namespace)
	if err != nil {
		return fmt.Errorf("opening the machine's network: %w", err)
	}
	defer inside.Close()
	for _, name := range []string{"lo", nic.Name} {
		link, err := inside.LinkByName(name)
		if err != nil {
			return fmt.Errorf("finding the interface %s: %w", name, err)
		}
		if err := inside.LinkSetUp(link); err != nil {
			return fmt.Errorf("starting the interface %s: %w", name, err)
		}
		if name == "lo" {
			continue
		}
		address, err := netlink.ParseAddr(nic.Address)
		if err != nil {
			return fmt.Errorf("reading the address: %w", err)
		}
		if err := inside.AddrAdd(link, address); err != nil {
			return fmt.Errorf("setting the address: %w", err)
		}
		if gateway := net.ParseIP(nic.Gateway); gateway != nil {
			if err := inside.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Gw: gateway}); err != nil {
				return fmt.Errorf("setting the default route: %w", err)
			}
		}
	}
	return nil
}
