package simulator

import "net/http"

// reservedIPsPath is where addresses are that DHCP keeps for a MAC address.
const reservedIPsPath = "/reservedips/"

// reservedIPOperations are the calls of these addresses. MAAS has them since 3.6.
func reservedIPOperations() []operation {
	return []operation{
		{http.MethodGet, reservedIPsPath, "", users, listReservedIPs, "is always empty; none can be made"},
	}
}

func listReservedIPs(*call) (*answer, *refusal) { return ok([]string{}) }
