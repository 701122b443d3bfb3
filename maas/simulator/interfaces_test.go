package simulator

import (
	"fmt"
	"net/netip"
	"strconv"
	"testing"
	"time"
)

type shownNIC struct {
	ID    int
	Name  string
	Tags  []string
	VLAN  *struct{ ID int }
	Links []struct {
		ID        int
		Mode      string
		IPAddress string `json:"ip_address"`
		Subnet    *struct{ CIDR string }
	}
}

// linkWorld has one machine, whose only interface has the ID 1.
func linkWorld(t *testing.T) *world {
	return newWorld(t, func(cfg *Config) {
		cfg.Machines = []Machine{{Hostname: "m", SystemID: "mmmmm3"}}
		cfg.Durations.PowerOn = 0
	})
}

const nicPath = "/nodes/mmmmm3/interfaces/1/"

func (w *world) nic() shownNIC {
	w.t.Helper()
	return decoded[shownNIC](w.t, w.ask("admin", "GET", nicPath, ""))
}

func TestStaticLinksOutliveARelease(t *testing.T) {
	t.Parallel()
	w := linkWorld(t)
	linked := decoded[shownNIC](t, w.ask("admin", "POST", nicPath, "link_subnet", [2]string{"mode", "STATIC"}, [2]string{"subnet", "net20"}, [2]string{"ip_address", "10.20.6.6"}))
	if len(linked.Links) != 2 || linked.Links[0].Mode != "auto" || linked.Links[1].Mode != "static" || linked.Links[1].IPAddress != "10.20.6.6" {
		t.Fatalf("linked %+v", linked)
	}
	w.play("admin", "POST", "/dnsresources/", "", [2]string{"fqdn", "api.maas"}, [2]string{"ip_addresses", "10.20.6.6"})
	w.play("user", "POST", "/machines/", "allocate", [2]string{"system_id", "mmmmm3"})
	w.play("user", "POST", "/machines/mmmmm3/", "deploy")
	w.clock.Advance(3 * time.Hour)
	if m := w.machine("mmmmm3"); len(m.IPAddresses) != 2 {
		t.Errorf("deployed with addresses %v, want the static one and another", m.IPAddresses)
	}
	w.play("user", "POST", "/machines/mmmmm3/", "release")
	w.clock.Advance(time.Minute)
	m := w.machine("mmmmm3")
	if m.Status != int(StatusReady) || len(m.IPAddresses) != 1 || m.IPAddresses[0] != "10.20.6.6" {
		t.Errorf("released: %+v, want Ready with the static address", m)
	}
	w.play("admin", "POST", nicPath, "unlink_subnet", [2]string{"id", strconv.Itoa(linked.Links[1].ID)})
	after := w.region.Snapshot()
	if len(after.Machines[0].Addresses) != 0 || len(after.DNSResources) != 0 || len(w.region.state.byAddress[netip.MustParseAddr("10.20.6.6")]) != 0 {
		t.Errorf("after the unlink there is %+v, want no address", after)
	}
}

func TestAnInterfaceWithoutLinksIsBroughtUpAndCannotBeDeployed(t *testing.T) {
	t.Parallel()
	w := linkWorld(t)
	got := decoded[shownNIC](t, w.ask("admin", "POST", nicPath, "unlink_subnet", [2]string{"id", strconv.Itoa(w.nic().Links[0].ID)}))
	if len(got.Links) != 1 || got.Links[0].Mode != "link_up" || got.Links[0].Subnet != nil || got.VLAN == nil {
		t.Errorf("unlinked: %+v, want one link that only brings it up", got)
	}
	w.ask("admin", "POST", "/machines/mmmmm3/", "deploy").wants(t, 400, `{"network": ["Node must be configured to use a network"]}`)
	if got = decoded[shownNIC](t, w.ask("admin", "POST", nicPath, "disconnect")); len(got.Links) != 0 || got.VLAN != nil {
		t.Errorf("disconnected: %+v, want neither links nor a VLAN", got)
	}
	for _, filter := range []string{"vlans", "fabrics", "subnets", "interfaces"} {
		value := map[string]string{"vlans": "id:5001", "fabrics": "fab1", "subnets": "net20", "interfaces": "a:fabric=fab1"}[filter]
		w.ask("admin", "GET", "/machines/", "", [2]string{filter, value}).wants(t, 200, "[]")
	}
	// A subnet brings its VLAN along.
	if got = decoded[shownNIC](t, w.ask("admin", "POST", nicPath, "link_subnet", [2]string{"mode", "auto"}, [2]string{"subnet", "cidr:10.30.0.0/28"})); got.VLAN == nil || got.VLAN.ID != 5002 {
		t.Errorf("linked anew: %+v, want the subnet's VLAN", got)
	}
}

func TestLinksThatAreRefused(t *testing.T) {
	t.Parallel()
	w := linkWorld(t)
	first := strconv.Itoa(w.nic().Links[0].ID)
	tests := []struct {
		op, form string
		status   int
		body     string
	}{
		{"link_subnet", "subnet=1", 400, `{"mode": ["This field is required."]}`},
		{"link_subnet", "mode=auto", 400, `{"subnet": ["This field is required."]}`},
		{"link_subnet", "mode=auto&subnet=3", 400, `{"subnet": ["None found with id=3.", "This field is required."]}`},
		{"link_subnet", "mode=static&subnet=1&ip_address=x", 400, `{"ip_address": ["Enter a valid IPv4 or IPv6 address."]}`},
		{"link_subnet", "mode=static&subnet=1&ip_address=10.30.0.5", 400, `{"ip_address": ["IP address is not in the given subnet 'net20 (10.20.0.0/21)'."]}`},
		{"link_subnet", "mode=link_up", 400, `{"mode": ["Cannot configure interface to link up (with no IP address) while other links are already configured. Specify force=True to override this behavior and delete all links."]}`},
		{"link_subnet", "mode=dhcp&subnet=1&default_gateway=true", 400, `{"default_gateway": ["Cannot use in mode 'dhcp'."]}`},
		{"link_subnet", "mode=auto&subnet=2&default_gateway=true", 400, `{"default_gateway": ["Cannot set as default gateway because subnet bmcnet (10.9.0.0/16) doesn't provide a gateway IP address."]}`},
		{"link_subnet", "mode=auto&subnet=1&force=maybe", 400, "Invalid force: Value should be 'true' or 'false'"},
		{"unlink_subnet", "", 400, `{"id": ["This field is required."]}`},
		{"unlink_subnet", "id=77", 400, `{"id": ["'77' is not a valid id.  It should be one of: '` + first + `'."]}`},
		{"set_default_gateway", "link_id=77", 400, `{"link_id": ["'77' is not a valid link_id.  It should be one of: '` + first + `'."]}`},
		{"add_tag", "", 400, "No provided tag!"},
	}
	for _, tt := range tests {
		form := parsePairs(tt.form)
		var pairs [][2]string
		for _, key := range form.keys {
			pairs = append(pairs, [2]string{key, form.get(key)})
		}
		w.ask("admin", "POST", nicPath, tt.op, pairs...).wants(t, tt.status, tt.body)
	}
	w.ask("admin", "GET", "/nodes/mmmmm3/interfaces/9/", "").wants(t, 404, "No Interface matches the given query.")
	w.ask("admin", "GET", "/nodes/zzzzzz/interfaces/1/", "").wants(t, 404, "No Interface matches the given query.")
	w.play("user", "POST", "/machines/", "allocate")
	w.ask("user2", "GET", nicPath, "").wants(t, 403, "")
	w.ask("user", "POST", nicPath, "disconnect").wants(t, 403, "")
}

func TestLinksReplaceOneAnother(t *testing.T) {
	t.Parallel()
	w := linkWorld(t)
	link := func(pairs ...[2]string) []string {
		var modes []string
		for _, l := range decoded[shownNIC](t, w.ask("admin", "POST", nicPath, "link_subnet", pairs...)).Links {
			modes = append(modes, l.Mode)
		}
		return modes
	}
	tests := []struct {
		pairs [][2]string
		want  string
	}{
		{[][2]string{{"mode", "dhcp"}, {"subnet", "1"}}, "[auto dhcp]"},
		{[][2]string{{"mode", "auto"}, {"subnet", "2"}}, "[auto auto]"}, // DHCP made way
		{[][2]string{{"mode", "link_up"}, {"force", "true"}}, "[link_up]"},
		{[][2]string{{"mode", "static"}, {"subnet", "1"}}, "[static]"},
		{[][2]string{{"mode", "auto"}, {"subnet", "3"}, {"force", "true"}}, "[auto]"},
	}
	for _, tt := range tests {
		if got := link(tt.pairs...); fmt.Sprint(got) != tt.want {
			t.Errorf("%v: links %v, want %s", tt.pairs, got, tt.want)
		}
	}
	if len(w.region.state.addresses.rows) != 1 {
		t.Errorf("%d address rows are left, want that of the last link", len(w.region.state.addresses.rows))
	}
}

func TestTheDefaultGatewayIsThatOfTheChosenLink(t *testing.T) {
	t.Parallel()
	w := linkWorld(t)
	gateways := func() gatewayJSON {
		return decoded[struct {
			Gateways gatewaysJSON `json:"default_gateways"`
		}](t, w.ask("admin", "GET", "/machines/mmmmm3/", "")).Gateways.IPv4
	}
	if g := gateways(); *g.GatewayIP != "10.20.0.1" || g.LinkID != nil {
		t.Errorf("gateway %v, want the first, chosen by nobody", g)
	}
	w.region.state.subnets.rows[2].gateway = netip.MustParseAddr("10.9.0.1")
	linked := decoded[shownNIC](t, w.ask("admin", "POST", nicPath, "link_subnet", [2]string{"mode", "auto"}, [2]string{"subnet", "2"}, [2]string{"default_gateway", "true"}))
	if g := gateways(); *g.GatewayIP != "10.9.0.1" || *g.LinkID != linked.Links[1].ID {
		t.Errorf("gateway %v, want that of the new link", g)
	}
	w.ask("admin", "POST", nicPath, "set_default_gateway").wants(t, 400, `{"link_id": ["This field is required; Interface has more than one usable IPv4 gateway."]}`)
	w.play("admin", "POST", nicPath, "set_default_gateway", [2]string{"link_id", strconv.Itoa(linked.Links[0].ID)})
	if g := gateways(); *g.GatewayIP != "10.20.0.1" || *g.LinkID != linked.Links[0].ID {
		t.Errorf("gateway %v, want that of the chosen link", g)
	}
	w.play("admin", "POST", nicPath, "unlink_subnet", [2]string{"id", strconv.Itoa(linked.Links[0].ID)})
	if g := gateways(); *g.GatewayIP != "10.9.0.1" || g.LinkID != nil {
		t.Errorf("gateway %v, want what is left", g)
	}
}

func TestInterfacesAreListedWithTheirTags(t *testing.T) {
	t.Parallel()
	w := linkWorld(t)
	w.play("admin", "POST", nicPath, "add_tag", [2]string{"tag", "fast"})
	w.play("admin", "POST", nicPath, "add_tag", [2]string{"tag", "blue"})
	w.play("admin", "POST", nicPath, "remove_tag", [2]string{"tag", "fast"})
	list := decoded[[]shownNIC](t, w.ask("user", "GET", "/nodes/mmmmm3/interfaces/", ""))
	if len(list) != 1 || fmt.Sprint(list[0].Tags) != "[blue]" {
		t.Errorf("interfaces %+v, want one, tagged blue", list)
	}
	w.play("user", "POST", "/machines/", "allocate", [2]string{"interfaces", "a:tag=blue"})
}

func TestStorageLayoutsAreCheckedAndNotCarriedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) {
		cfg.Machines = []Machine{{Hostname: "m", SystemID: "mmmmm3"}, {Hostname: "n", SystemID: "nnnnn3", DiskGB: -1}}
	})
	w.ask("admin", "POST", "/machines/mmmmm3/", "set_storage_layout").wants(t, 400, "No provided storage_layout!")
	w.ask("admin", "POST", "/machines/nnnnn3/", "set_storage_layout", [2]string{"storage_layout", "flat"}).wants(t, 400, "Machine is missing a boot disk; no storage layout can be applied.")
	w.play("admin", "POST", "/machines/mmmmm3/", "set_storage_layout", [2]string{"storage_layout", "lvm"})
}
