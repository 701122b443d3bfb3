package simulator

import (
	"net/http"
	"testing"
)

func TestReserveAddress(t *testing.T) {
	t.Parallel()
	const foreign = "IP address 10.20.3.99 does not exist, is not the correct type of address, or does not belong to the requesting user.\n" +
		"If you are sure you want to release this address, use force=true as a MAAS administrator."
	w := newWorld(t, func(cfg *Config) {
		cfg.Subnets[0].Reserved = []string{"10.20.4.0-10.20.4.9"}
		cfg.Subnets[0].Dynamic = []string{"10.20.5.0-10.20.5.255"}
		cfg.Machines = []Machine{{Hostname: "m", SystemID: "abc346", MAC: "52:54:00:00:00:01"}}
	})
	w.play("admin", "POST", "/machines/", "allocate")
	w.play("admin", "POST", "/machines/abc346/", "deploy")
	for _, tt := range []struct {
		name, user, op string
		form           [][2]string
		status         int
		body           string // when refused
	}{
		{"nothing", "user", "reserve", nil, 400, "Must supply either the 'subnet' or the 'ip' parameter."},
		{"no address", "user", "reserve", [][2]string{{"ip", "x"}}, 400, `{"ip_address": ["Enter a valid IPv4 or IPv6 address."]}`},
		{"no subnet of the address", "user", "reserve", [][2]string{{"ip", "192.0.2.1"}}, 400, "No known subnet for IP address: 192.0.2.1."},
		{"no such subnet", "user", "reserve", [][2]string{{"subnet", "10.99.0.0/24"}}, 400, "Unable to identify subnet: 10.99.0.0/24."},
		{"in a reserved range", "user", "reserve", [][2]string{{"ip", "10.20.4.3"}}, 404, "10.20.4.3 is within the reserved range from 10.20.4.0 to 10.20.4.9"},
		{"in a dynamic range", "user", "reserve", [][2]string{{"ip", "10.20.5.3"}}, 403,
			"IP address 10.20.5.3 belongs to an existing dynamic range. To reserve this IP address, a MAC address is required. (Create a device instead.)"},
		{"a machine's", "user", "reserve", [][2]string{{"ip", "10.20.0.3"}}, 404, "The IP address 10.20.0.3 is already in use."},
		{"a machine's MAC", "user", "reserve", [][2]string{{"ip", "10.20.3.9"}, {"mac", "52:54:00:00:00:01"}}, 400,
			"MAC address 52:54:00:00:00:01 already belongs to m. Use of the interface API is required, for an interface that belongs to a node."},
		{"no such domain", "user", "reserve", [][2]string{{"ip", "10.20.3.9"}, {"hostname", "a.nope"}}, 404, "No Domain matches the given query."},
		{"the gateway", "user", "reserve", [][2]string{{"ip", "10.20.0.1"}}, 200, ""},
		{"an address, whatever the subnet", "user", "reserve", [][2]string{{"ip", "10.20.3.99"}, {"subnet", "3"}, {"hostname", "vip.c1.example"}}, 200, ""},
		{"again", "admin", "reserve", [][2]string{{"ip", "10.20.3.99"}}, 404, "The IP address 10.20.3.99 is already in use."},
		{"one more for the name", "user", "reserve", [][2]string{{"subnet", "net20"}, {"hostname", "vip.c1.example"}}, 200, ""},
		{"release without address", "user", "release", nil, 400, "No provided ip!"},
		{"release another's", "admin", "release", [][2]string{{"ip", "10.20.3.99"}}, 400, foreign},
		{"force as a user", "user", "release", [][2]string{{"ip", "10.20.3.99"}, {"force", "true"}}, 403, "Force-releasing an IP address requires admin privileges."},
		{"release", "user", "release", [][2]string{{"ip", "10.20.3.99"}}, 204, ""},
		{"release again", "user", "release", [][2]string{{"ip", "10.20.3.99"}}, 400, foreign},
		{"force another's", "admin", "release", [][2]string{{"ip", "10.20.0.1"}, {"force", "true"}}, 204, ""},
		{"force a machine's", "admin", "release", [][2]string{{"ip", "10.20.0.3"}, {"force", "true"}}, 204, ""},
		{"force nothing", "admin", "release", [][2]string{{"ip", "10.20.0.3"}, {"force", "true"}}, 400, "IP address 10.20.0.3 does not exist."},
	} {
		got := w.ask(tt.user, "POST", "/ipaddresses/", tt.op, tt.form...)
		if got.status != tt.status || tt.status != http.StatusOK && got.body != tt.body {
			t.Errorf("%s: %d %s, want %d %s", tt.name, got.status, got.body, tt.status, tt.body)
		}
	}
	got := decoded[[]dnsResourceJSON](t, w.ask("user", "GET", "/dnsresources/", "", [2]string{"fqdn", "vip.c1.example"}))
	if len(got) != 1 || len(got[0].IPAddresses) != 1 || *got[0].IPAddresses[0].IP != "10.20.0.4" {
		t.Errorf("the name's addresses: %+v", got)
	}
	w.play("user", "POST", "/ipaddresses/", "release", [2]string{"ip", "10.20.0.4"})
	w.ask("user", "GET", "/dnsresources/", "", [2]string{"fqdn", "vip.c1.example"}).wants(t, 200, "[]")
	w.ask("user", "GET", "/ipaddresses/", "").wants(t, 200, "[]")
	w.ask("user", "GET", "/ipaddresses/", "", [2]string{"ip", "x"}).wants(t, 400, "Parameter 'ip' must contain an IP address.")
}

func TestListReservedAddressesOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) { cfg.Machines = []Machine{{Hostname: "m"}} })
	w.play("user", "POST", "/ipaddresses/", "reserve", [2]string{"ip", "10.20.3.1"})
	w.play("admin", "POST", "/ipaddresses/", "reserve", [2]string{"ip", "10.20.3.2"})
	for _, tt := range []struct {
		user, key, value string
		want             int
	}{{"admin", "all", "true", 2}, {"admin", "all", "false", 1}, {"admin", "owner", "user", 1}, {"admin", "owner", "nobody", 0}, {"user", "ip", "10.20.3.2", 0}} {
		if got := decoded[[]addressJSON](t, w.ask(tt.user, "GET", "/ipaddresses/", "", [2]string{tt.key, tt.value})); len(got) != tt.want {
			t.Errorf("%s with %s=%s sees %d addresses, want %d", tt.user, tt.key, tt.value, len(got), tt.want)
		}
	}
	w.ask("user", "GET", "/ipaddresses/", "", [2]string{"owner", "admin"}).wants(t, 403, "Listing another user's IP addresses requires admin privileges.")
}
