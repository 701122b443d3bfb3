package simulator

type gatewaysJSON struct {
	IPv4 gatewayJSON `json:"ipv4"`
	IPv6 gatewayJSON `json:"ipv6"`
}

type gatewayJSON struct {
	GatewayIP *string `json:"gateway_ip"`
	LinkID    *int    `json:"link_id"`
}

// gateways are those that a machine's traffic leaves by: that of the link which
// somebody chose, else the first.
func (m *machine) gateways() gatewaysJSON {
	var out gatewaysJSON
	for _, n := range m.nics {
		for _, l := range n.links {
			if l.subnet == nil || !l.subnet.gateway.IsValid() {
				continue
			}
			family := &out.IPv4
			if l.subnet.gateway.Is6() {
				family = &out.IPv6
			}
			chosen := l.id == m.gatewayLink
			if family.GatewayIP == nil || chosen {
				family.GatewayIP = optional(l.subnet.gateway.String())
			}
			if chosen {
				family.LinkID = &l.id
			}
		}
	}
	return out
}
