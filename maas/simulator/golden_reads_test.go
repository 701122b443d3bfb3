package simulator

import "strings"

// networkWorld adds the subnet that the recordings' fixtures made by chance.
func networkWorld(cfg *Config) {
	made := Subnet{
		Name: "name-DLHQVT", CIDR: "fd5b:2f91:88c2:2e50::/63", Gateway: "fd5b:2f91:88c2:2e50::1", NoDHCP: true,
		DNSServers: []string{"60.56.1.53", "fd3c:b2df:47a4:fcf9:cff4:4257:33c:fc76"},
	}
	if strings.HasPrefix(cfg.Version, "3.4") {
		made = Subnet{
			Name: "name-HwggZE", CIDR: "fc13:1fc8:62d3:6800::/62", Gateway: "fc13:1fc8:62d3:6800::1", NoDHCP: true, Space: "space-2",
			DNSServers: []string{"fc42:fa37:34de:5476:50ee:1941:23e0:ba07", "149.105.127.221"},
		}
	}
	cfg.Subnets = append(cfg.Subnets, made)
}

// dynamicWorld has a range for DHCP where the recordings' had one.
func dynamicWorld(cfg *Config) {
	cfg.Subnets[0].Dynamic = []string{"10.20.5.0-10.20.5.255"}
}

// threeResources counts the records that the recordings' fixtures had made.
func threeResources(w *world) { w.region.state.resources.last = 3 }
