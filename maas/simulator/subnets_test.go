package simulator

import (
	"encoding/json"
	"testing"
)

func TestSubnetsAreCutIntoRanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) {
		cfg.Subnets = []Subnet{{
			Name: "net", CIDR: "10.1.0.0/28", Gateway: "10.1.0.1", DNSServers: []string{"10.1.0.2", "9.9.9.9"},
			Reserved: []string{"10.1.0.2-10.1.0.4"}, Dynamic: []string{"10.1.0.10-10.1.0.14"},
		}}
		cfg.Machines = []Machine{{Hostname: "m", SystemID: "abc346"}}
	})
	w.play("user", "POST", "/machines/", "allocate")
	w.play("user", "POST", "/machines/abc346/", "deploy")
	w.play("admin", "POST", "/dnsresources/", "", [2]string{"fqdn", "api.maas"}, [2]string{"ip_addresses", "10.1.0.6 10.1.0.11"})
	ranges := func(op string, pairs ...[2]string) string {
		var out any
		if err := json.Unmarshal([]byte(w.ask("user", "GET", "/subnets/10.1.0.0/28/", op, pairs...).body), &out); err != nil {
			t.Fatal(err)
		}
		compacted, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(compacted)
	}
	for op, want := range map[string]string{
		"reserved_ip_ranges": `[{"end":"10.1.0.1","num_addresses":1,"purpose":["gateway-ip"],"start":"10.1.0.1"},` +
			`{"end":"10.1.0.2","num_addresses":1,"purpose":["dns-server","reserved"],"start":"10.1.0.2"},` +
			`{"end":"10.1.0.4","num_addresses":2,"purpose":["reserved"],"start":"10.1.0.3"},` +
			`{"end":"10.1.0.6","num_addresses":2,"purpose":["assigned-ip"],"start":"10.1.0.5"},` +
			`{"end":"10.1.0.10","num_addresses":1,"purpose":["dynamic"],"start":"10.1.0.10"},` +
			`{"end":"10.1.0.11","num_addresses":1,"purpose":["assigned-ip","dynamic"],"start":"10.1.0.11"},` +
			`{"end":"10.1.0.14","num_addresses":3,"purpose":["dynamic"],"start":"10.1.0.12"}]`,
		"unreserved_ip_ranges": `[{"end":"10.1.0.9","num_addresses":3,"start":"10.1.0.7"}]`,
		"statistics": `{"available_string":"21%","first_address":"10.1.0.1","ip_version":4,"largest_available":3,"last_address":"10.1.0.14",` +
			`"num_available":3,"num_unavailable":11,"total_addresses":14,"usage":0.7857142857142857,"usage_string":"79%"}`,
	} {
		if got := ranges(op); got != want {
			t.Errorf("%s:\n%s, want\n%s", op, got, want)
		}
	}
	got := decoded[[]map[string]any](t, w.ask("user", "GET", "/subnets/1/", "ip_addresses"))
	if len(got) != 3 || got[0]["ip"] != "10.1.0.5" || got[0]["node_summary"].(map[string]any)["hostname"] != "m" || got[1]["user"] != "admin" || got[1]["dns_records"] == nil {
		t.Errorf("addresses: %v", got)
	}
	if got := decoded[[]map[string]any](t, w.ask("user", "GET", "/ipranges/", "")); len(got) != 2 || got[1]["type"] != "dynamic" || got[1]["start_ip"] != "10.1.0.10" {
		t.Errorf("ranges: %v", got)
	}
	w.ask("user", "GET", "/ipranges/9/", "").wants(t, 404, "No IPRange matches the given query.")
}

func TestIPv6SubnetIsCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) { cfg.Subnets = []Subnet{{CIDR: "fd00::/62"}} })
	got := decoded[map[string]any](t, w.ask("user", "GET", "/subnets/1/", "statistics"))
	if got["last_address"] != "fd00::3:ffff:ffff:ffff:ffff" || got["num_unavailable"] != float64(1<<32-1) || got["num_available"].(float64) < 1<<65 || got["usage_string"] != "0%" {
		t.Errorf("statistics: %v", got)
	}
}

func TestCreateSubnet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	tests := []struct {
		name string
		form [][2]string
		want string // of a refusal
	}{
		{"no network", nil, `{"cidr": ["This field is required."]}`},
		{"overlap", [][2]string{{"cidr", "10.20.1.0/24"}}, `{"__all__": ["Subnet 10.20.1.0/24 would overlap with existing subnets."]}`},
		{"gateway outside", [][2]string{{"cidr", "10.50.0.0/24"}, {"gateway_ip", "10.51.0.1"}}, `{"gateway_ip": ["Gateway IP must be within CIDR range."]}`},
		{"unknown VLAN", [][2]string{{"cidr", "10.50.0.0/24"}, {"vlan", "77"}}, `{"vlan": ["Select a valid choice. That choice is not one of the available choices."]}`},
		{"unknown tag of a VLAN", [][2]string{{"cidr", "10.50.0.0/24"}, {"fabric", "1"}, {"vid", "7"}}, `{"vid": ["No VLAN with vid 7 in fabric fab1."]}`},
	}
	for _, tt := range tests {
		if got := w.ask("admin", "POST", "/subnets/", "", tt.form...); got.status != 400 || got.body != tt.want {
			t.Errorf("%s: %d %s, want %s", tt.name, got.status, got.body, tt.want)
		}
	}
	got := decoded[subnetJSON](t, w.ask("admin", "POST", "/subnets/", "", [2]string{"cidr", "10.50.0.9/24"}, [2]string{"fabric", "2"}, [2]string{"name", "new"},
		[2]string{"dns_servers", "10.50.0.2,10.50.0.3"}, [2]string{"allow_dns", "false"}, [2]string{"managed", "0"}))
	if got.CIDR != "10.50.0.0/24" || got.VLAN.Fabric != "fab2" || got.Space != "sp1" || len(got.DNSServers) != 2 || got.AllowDNS || got.Managed || !got.AllowProxy {
		t.Errorf("new subnet: %+v", got)
	}
	if _, err := w.region.AddMachine(Machine{Hostname: "m", Subnet: "new"}); err != nil {
		t.Error(err)
	}
}

func TestFabricsAndSpaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for path, want := range map[string]string{"/fabrics/1/": "fab1", "/fabrics/fab2/": "fab2", "/spaces/1/": "sp1", "/spaces/undefined/": "undefined", "/fabrics/2/vlans/0/": "untagged", "/vlans/5002/": "untagged"} {
		if got := decoded[map[string]any](t, w.ask("user", "GET", path, "")); got["name"] != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if got := decoded[[]vlanJSON](t, w.ask("user", "GET", "/fabrics/2/vlans/", "")); len(got) != 1 || got[0].ID != 5002 {
		t.Errorf("VLANs: %v", got)
	}
	w.ask("user", "GET", "/fabrics/9/", "").wants(t, 404, "No Fabric matches the given query.")
	w.ask("user", "POST", "/spaces/", "", [2]string{"name", "x"}).wants(t, 403, "This method is reserved for admin users.")
	w.ask("admin", "POST", "/spaces/", "", [2]string{"name", "sp1"}).wants(t, 400, `{"name": ["Space with this Name already exists."]}`)
	if got := decoded[spaceJSON](t, w.ask("admin", "POST", "/spaces/", "", [2]string{"name", "sp2"})); got.ID != 2 || len(got.VLANs) != 0 {
		t.Errorf("new space: %+v", got)
	}
}
