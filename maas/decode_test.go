package maas

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRecordedMachinesDecode(t *testing.T) {
	t.Parallel()
	type facts struct {
		status    Status
		owner     string
		addresses []string
		osystem   string
		series    string
	}
	tests := map[string]facts{
		"machine.json.ready":             {status: StatusReady},
		"machine.json.allocated":         {status: StatusAllocated, owner: "admin"},
		"machine.allocate.by-id":         {status: StatusAllocated, owner: "admin"},
		"machine.deploy":                 {StatusDeploying, "admin", nil, "ubuntu", "jammy"},
		"machine.json.deploying":         {StatusDeploying, "admin", []string{"10.20.0.3"}, "ubuntu", "jammy"},
		"machine.json.deployed":          {StatusDeployed, "admin", []string{"10.20.0.3"}, "ubuntu", "jammy"},
		"machine.json.releasing":         {status: StatusReleasing, owner: "admin", addresses: []string{"10.20.0.3"}},
		"machine.json.failed-deployment": {StatusFailedDeployment, "admin", []string{"10.20.1.22"}, "ubuntu", "jammy"},
		"machine.json.commissioning":     {status: StatusCommissioning, owner: "admin"},
	}
	for _, version := range []string{"3.7.3", "3.4.10"} {
		all := recordings(t, version)
		for name, want := range tests {
			r, ok := all[name]
			if !ok {
				if version == "3.7.3" {
					t.Errorf("%s is not recorded", name)
				}
				continue
			}
			c, _ := answering(t, r)
			m, err := c.Machine(context.Background(), systemIDIn(r.Path, r.Body))
			if err != nil {
				t.Errorf("%s %s: %v", version, name, err)
				continue
			}
			got := facts{m.Status, m.Owner, m.IPAddresses, m.OSystem, m.DistroSeries}
			if len(got.addresses) == 0 {
				got.addresses = nil
			}
			if version == "3.4.10" && len(got.addresses) == 1 {
				got.addresses = want.addresses // addresses differ between recordings
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s %s: got %+v, want %+v", version, name, got, want)
			}
			if m.StatusName != m.Status.String() {
				t.Errorf("%s: MAAS says %q, we say %q", name, m.StatusName, m.Status)
			}
			checkHardware(t, version+" "+name, m)
			if name == "machine.json.ready" && !slices.Equal(m.Tags, []string{"ssd"}) {
				t.Errorf("%s: tags %v", version, m.Tags)
			}
		}
	}
}

// checkHardware checks what all recorded machines have in common.
func checkHardware(t *testing.T, name string, m *Machine) {
	t.Helper()
	if m.CPUCount != 4 || m.MemoryMiB != 8192 || m.StorageMB != 480103.981056 || m.Architecture != "amd64/generic" {
		t.Errorf("%s: %d cores, %d MiB, %v MB, %s", name, m.CPUCount, m.MemoryMiB, m.StorageMB, m.Architecture)
	}
	if m.BootDisk == nil || m.BootDisk.SizeBytes != 480103981056 || m.BootDisk.Model != "S4510" || len(m.BlockDevices) != 1 {
		t.Errorf("%s: boot disk %+v of %d", name, m.BootDisk, len(m.BlockDevices))
	}
	if m.Zone.Name != "default" || m.Zone.ID != 1 || m.Pool.Name != "default" || m.Domain.Name != "maas" || !m.Domain.IsDefault || m.Domain.TTL != nil {
		t.Errorf("%s: zone %+v, pool %+v, domain %+v", name, m.Zone, m.Pool, m.Domain)
	}
	if m.PowerType != "ipmi" || m.Pod != nil || m.HardwareUUID == "" || m.FQDN != m.Hostname+".maas" {
		t.Errorf("%s: power %s, pod %v, uuid %q, fqdn %s", name, m.PowerType, m.Pod, m.HardwareUUID, m.FQDN)
	}
	nic := m.BootInterface
	if nic == nil || len(m.Interfaces) != 1 || nic.Name != "eno1" || !nic.Enabled || nic.VLAN == nil || nic.VLAN.Fabric != "fab1" || nic.VLAN.MTU != 1500 || nic.SystemID != m.SystemID {
		t.Fatalf("%s: boot interface %+v of %d", name, nic, len(m.Interfaces))
	}
	link := nic.Links[0]
	if link.Mode != "auto" || link.Subnet == nil || link.Subnet.CIDR != "10.20.0.0/21" || link.Subnet.GatewayIP != "10.20.0.1" ||
		!slices.Equal(link.Subnet.DNSServers, []string{"10.20.0.2"}) {
		t.Errorf("%s: link %+v", name, link)
	}
	if len(m.IPAddresses) == 1 && link.IPAddress != m.IPAddresses[0] {
		t.Errorf("%s: link has %q, machine %q", name, link.IPAddress, m.IPAddresses[0])
	}
}

// systemIDIn is the ID that a recorded request or its answer is about.
func systemIDIn(path, body string) string {
	if _, rest, ok := strings.Cut(path, "/machines/"); ok && strings.Trim(rest, "/") != "" {
		return strings.Trim(rest, "/")
	}
	var m struct {
		SystemID string `json:"system_id"`
	}
	if json.Unmarshal([]byte(body), &m) != nil {
		return ""
	}
	return m.SystemID
}

func TestBareMachineHasNeitherDiskNorInterface(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.7.3", "3.4.10"} {
		r := recordings(t, version)["machine.json.new-bare"]
		c, _ := answering(t, r)
		m, err := c.Machine(context.Background(), systemIDIn(r.Path, ""))
		if err != nil {
			t.Fatal(err)
		}
		if m.Status != StatusNew || m.Owner != "" || m.BootDisk != nil || m.BootInterface != nil || m.StatusMessage != "" || m.HWEKernel != "" || !m.Netboot {
			t.Errorf("%s: got %+v", version, m)
		}
	}
}

func TestMachinesDecodeLeniently(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body string
		want Machine
	}{
		"almost nothing": {`{"system_id":"a","status":4}`, Machine{SystemID: "a", Status: StatusReady}},
		"all null": {`{"system_id":"a","status":4,"owner":null,"hardware_uuid":null,"zone":null,"pool":null,"domain":null,"pod":null,
			"ip_addresses":null,"interface_set":null,"boot_interface":null,"memory":null,"cpu_count":null,"storage":null,"owner_data":null,
			"workload_annotations":null,"power_state":null,"locked":null,"tag_names":null}`, Machine{SystemID: "a", Status: StatusReady}},
		"null among addresses": {`{"system_id":"a","status":6,"ip_addresses":[null,"10.0.0.1",null]}`,
			Machine{SystemID: "a", Status: StatusDeployed, IPAddresses: []string{"10.0.0.1"}}},
		"sizes as floats": {`{"system_id":"a","status":6.0,"memory":2048.0,"cpu_count":2.0,"boot_disk":{"id":1,"size":3221094400.0}}`,
			Machine{SystemID: "a", Status: StatusDeployed, MemoryMiB: 2048, CPUCount: 2, BootDisk: &BlockDevice{ID: 1, SizeBytes: 3221094400}}},
		"parameters as object": {`{"system_id":"a","status":6,"boot_interface":{"id":1,"params":{"mtu":9000},"vlan":null,"links":[{"id":2,"mode":"dhcp"}]}}`,
			Machine{SystemID: "a", Status: StatusDeployed, BootInterface: &Interface{ID: 1, Links: []Link{{ID: 2, Mode: "dhcp"}}}}},
		"annotations of MAAS 2.9": {`{"system_id":"a","status":6,"owner_data":{"k":"v"}}`,
			Machine{SystemID: "a", Status: StatusDeployed, Annotations: map[string]string{"k": "v"}}},
		"annotations win": {`{"system_id":"a","status":6,"owner_data":{"k":"v"},"workload_annotations":{}}`,
			Machine{SystemID: "a", Status: StatusDeployed, Annotations: map[string]string{}}},
		"a virtual machine": {`{"system_id":"a","status":4,"pod":{"id":3,"name":"lxd1","resource_uri":"/x/"}}`,
			Machine{SystemID: "a", Status: StatusReady, Pod: &Pod{ID: 3, Name: "lxd1"}}},
		"a state of the future": {`{"system_id":"a","status":99,"unheard_of":[{}]}`, Machine{SystemID: "a", Status: 99}},
	}
	for name, tt := range tests {
		m := Machine{Owner: "left over", MemoryMiB: 1}
		if err := json.Unmarshal([]byte(tt.body), &m); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m.IPAddresses = slices.Clip(m.IPAddresses); !reflect.DeepEqual(m, tt.want) {
			t.Errorf("%s: got %+v, want %+v", name, m, tt.want)
		}
	}
}

func TestAnswersOfAnotherShapeAreNotMAAS(t *testing.T) {
	t.Parallel()
	bodies := []string{
		"", "null", "[]", "{}", `"x"`, "7", "true", `{"detail":"hello"}`, `[{"system_id":"a"}]`, `{"system_id":"4y3h7n"}`,
		`{"system_id":"4y3h7n","status":"Ready"}`, `{"system_id":"other1","status":4}`, `{"system_id":"4y3h7n","status":4`,
		`{"system_id":"4y3h7n","status":4}x`, "<html>", `{"system_id":["4y3h7n"],"status":4}`,
	}
	for _, body := range bodies {
		c, _ := answering(t, text(200, "application/json", body))
		m, err := c.Machine(context.Background(), "4y3h7n")
		if !errors.Is(err, ErrNotMAAS) || m != nil {
			t.Errorf("read %q: got %v, %v", body, m, err)
		}
		checkMessage(t, err)
		if m, err = c.Deploy(context.Background(), "4y3h7n", DeployParams{}); !errors.Is(err, ErrOutcomeUnknown) || m != nil {
			t.Errorf("write %q: got %v, %v", body, m, err)
		}
		checkMessage(t, err)
	}
}

func TestRecordedListsDecode(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, version := range []string{"3.7.3", "3.4.10"} {
		all := recordings(t, version)
		from := func(name string) *Client {
			r, ok := all[name]
			if !ok {
				t.Fatalf("%s is not recorded", name)
			}
			c, _ := answering(t, r)
			return c
		}
		zones, err := from("zones.list").Zones(ctx)
		if err != nil || !slices.ContainsFunc(zones, func(z Zone) bool { return z.Name == "z1" && z.Description == "rack one" && z.ID != 0 }) {
			t.Errorf("zones: %+v, %v", zones, err)
		}
		pools, err := from("pools.list").ResourcePools(ctx)
		if err != nil || !slices.ContainsFunc(pools, func(p ResourcePool) bool { return p.Name == "p1" && p.Description == "pool one" }) {
			t.Errorf("pools: %+v, %v", pools, err)
		}
		tags, err := from("tags.list").Tags(ctx)
		if err != nil || !slices.ContainsFunc(tags, func(t Tag) bool { return t.Name == "gpu" }) {
			t.Errorf("tags: %+v, %v", tags, err)
		}
		domains, err := from("domains.list").Domains(ctx)
		if err != nil || !slices.ContainsFunc(domains, func(d Domain) bool { return d.Name == "maas" && d.IsDefault && d.Authoritative }) {
			t.Errorf("domains: %+v, %v", domains, err)
		}
		subnets, err := from("subnets.list").Subnets(ctx)
		if err != nil || !slices.ContainsFunc(subnets, func(s Subnet) bool {
			return s.Name == "net20" && s.CIDR == "10.20.0.0/21" && s.VLAN != nil && s.VLAN.Fabric == "fab1" && s.Managed
		}) {
			t.Errorf("subnets: %+v, %v", subnets, err)
		}
		images, err := from("boot-resources.list").BootResources(ctx)
		if err != nil || !slices.ContainsFunc(images, func(b BootResource) bool { return b.Name == "u-2204-0-k-1.30.4" && b.IsCustom() }) ||
			!slices.ContainsFunc(images, func(b BootResource) bool { return b.Name == "ubuntu/jammy" && !b.IsCustom() && b.Type == "Synced" }) {
			t.Errorf("images: %+v, %v", images, err)
		}
		user, err := from("users.whoami").WhoAmI(ctx)
		if err != nil || user.Username != "admin" || !user.IsSuperuser || !user.IsLocal {
			t.Errorf("whoami: %+v, %v", user, err)
		}
		records, err := from("dnsrr.list").DNSRecords(ctx, DNSRecordFilter{FQDN: "c2-api.maas"})
		if err != nil || len(records) == 0 || records[0].Type != "TXT" || records[0].FQDN != "c2-api.maas" || records[0].ID == 0 {
			t.Errorf("records: %+v, %v", records, err)
		}
		checkDNS(t, from)
	}
}

func checkDNS(t *testing.T, from func(string) *Client) {
	t.Helper()
	ctx := context.Background()
	made, err := from("dns.create.name+domain").CreateDNSResource(ctx, DNSResourceParams{Name: "c2-api", Domain: "maas"})
	if err != nil || made.FQDN != "c2-api.maas" || !slices.Equal(made.IPs(), []string{"10.20.0.201", "10.20.0.202"}) ||
		made.AddressTTL != nil || made.HasEmptyRows() || made.Addresses[0].AllocType != AllocUserReserved {
		t.Errorf("create: %+v, %v", made, err)
	}
	left, err := from("dns.list.m.7-after-release").DNSResources(ctx, DNSResourceFilter{FQDN: "cp-api.maas"})
	if err != nil || len(left) != 1 || len(left[0].IPs()) != 0 || !left[0].HasEmptyRows() || *left[0].AddressTTL != 10 {
		t.Fatalf("a record after its machine's release: %+v, %v", left, err)
	}
	if row := left[0].Addresses[0]; row.AllocType != AllocAutomatic || len(row.SystemIDs) != 1 || row.Subnet.Name != "net20" {
		t.Errorf("the row of a released machine: %+v", row)
	}
	if none, err := from("dns.list.fqdn-missing-record").DNSResources(ctx, DNSResourceFilter{FQDN: "nope.maas"}); err != nil || len(none) != 0 {
		t.Errorf("no such record: %+v, %v", none, err)
	}
}

func TestRecordedEventsDecode(t *testing.T) {
	t.Parallel()
	all := recordings(t, "3.7.3")
	c, _ := answering(t, all["events.while-deploying"])
	page, err := c.Events(context.Background(), EventFilter{Level: "DEBUG"})
	if err != nil || len(page.Events) != 5 || page.LastID != 14 {
		t.Fatalf("got %+v, %v", page, err)
	}
	want := Event{ID: 13, SystemID: "wmyxk8", Hostname: "ev-1", Level: "DEBUG", Type: "Node changed status",
		Description: "From 'Allocated' to 'Deploying'", Username: "unknown", Created: time.Date(2026, 11, 30, 11, 18, 56, 0, time.UTC)}
	if page.Events[1] != want {
		t.Errorf("got %+v, want %+v", page.Events[1], want)
	}
	c, _ = answering(t, all["events.agent"])
	if page, err = c.Events(context.Background(), EventFilter{After: 1667}); err != nil || len(page.Events) != 0 || page.LastID != 1667 {
		t.Errorf("an empty page: %+v, %v", page, err)
	}
	c, _ = answering(t, text(200, "application/json", `{"events":[{"id":1,"created":"yesterday"}]}`))
	if page, err = c.Events(context.Background(), EventFilter{}); err != nil || !page.Events[0].Created.IsZero() {
		t.Errorf("an unknown time: %+v, %v", page, err)
	}
	c, _ = answering(t, text(200, "application/json", `{"detail":"x"}`))
	if _, err = c.Events(context.Background(), EventFilter{}); !errors.Is(err, ErrNotMAAS) {
		t.Errorf("no events at all: %v", err)
	}
}

func FuzzMachineDecodesOrFailsButNeverPanics(f *testing.F) {
	f.Add([]byte(`{"system_id":"a","status":4,"ip_addresses":[null],"boot_disk":{"size":1e400}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m Machine
		if json.Unmarshal(data, &m) == nil && m.SystemID == "" {
			t.Errorf("a machine without ID from %q", data)
		}
	})
}
