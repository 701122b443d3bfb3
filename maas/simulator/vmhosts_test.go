package simulator

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// composeWorld has one host in zone z1 with room for some machines.
func composeWorld(t *testing.T, change func(*VMHost)) *world {
	return newWorld(t, func(cfg *Config) {
		host := VMHost{Name: "lxd1", Cores: 8, MemoryMiB: 16384, Zone: "z1", Pool: "p1", Tags: []string{"ssd"}, StoragePools: []StoragePool{{Name: "fast", GB: 50}, {Name: "big", GB: 900}}}
		if change != nil {
			change(&host)
		}
		cfg.VMHosts = []VMHost{host}
		cfg.Durations.PowerOn = 0
	})
}

type composed struct {
	SystemID    string `json:"system_id"`
	ResourceURI string `json:"resource_uri"`
}

type shownMachine struct {
	SystemID         string   `json:"system_id"`
	Status           int      `json:"status"`
	PowerType        string   `json:"power_type"`
	CPUCount         int      `json:"cpu_count"`
	Memory           int      `json:"memory"`
	TagNames         []string `json:"tag_names"`
	Owner            *string  `json:"owner"`
	Pod              *podJSON `json:"pod"`
	VirtualMachineID *int     `json:"virtualmachine_id"`
	Zone, Pool       struct{ Name string }
	IPAddresses      []string   `json:"ip_addresses"`
	BlockDevices     []diskJSON `json:"blockdevice_set"`
}

func (w *world) machine(id string) shownMachine {
	w.t.Helper()
	return decoded[shownMachine](w.t, w.ask("admin", "GET", "/machines/"+id+"/", ""))
}

func (w *world) host(id int) VMHostSnapshot {
	for _, h := range w.region.Snapshot().VMHosts {
		if h.ID == id {
			return h
		}
	}
	w.t.Fatalf("no VM host %d", id)
	return VMHostSnapshot{}
}

func TestComposedMachinesAreCommissionedAndStayUntilTheyAreDeleted(t *testing.T) {
	t.Parallel()
	w := composeWorld(t, nil)
	made := decoded[composed](t, w.ask("admin", "POST", "/vm-hosts/1/", "compose", [2]string{"cores", "2"}, [2]string{"memory", "4096"}, [2]string{"hostname", "vm-1"}, [2]string{"storage", "root:20,data:100(big)"}))
	if want := "/MAAS/api/2.0/machines/" + made.SystemID + "/"; made.ResourceURI != want {
		t.Errorf("resource URI %s, want %s", made.ResourceURI, want)
	}
	m := w.machine(made.SystemID)
	if m.Status != int(StatusCommissioning) || m.Pod == nil || m.Pod.Name != "lxd1" || m.Pod.ResourceURI != "/MAAS/api/2.0/pods/1/" || m.PowerType != "lxd" ||
		m.CPUCount != 2 || m.Memory != 4096 || !slices.Equal(m.TagNames, []string{"ssd"}) || m.Pool.Name != "p1" || m.Zone.Name != "default" || m.VirtualMachineID == nil {
		t.Errorf("composed %+v", m)
	}
	if len(m.BlockDevices) != 2 || *m.BlockDevices[0].StoragePool != "fast" || *m.BlockDevices[1].StoragePool != "big" || m.BlockDevices[1].Size != 100e9 {
		t.Errorf("disks %+v", m.BlockDevices)
	}
	w.clock.Advance(2 * time.Hour)
	if m = w.machine(made.SystemID); m.Status != int(StatusReady) || m.Owner != nil || !slices.Contains(m.TagNames, "virtual") {
		t.Errorf("commissioned: %+v, want Ready, without owner, tagged virtual", m)
	}
	if h := w.host(1); h.UsedCores != 2 || h.UsedMiB != 4096 || h.UsedStorageBytes != 120e9 || len(h.Machines) != 1 {
		t.Errorf("the host has %+v", h)
	}
	w.play("user", "POST", "/machines/", "allocate", [2]string{"pod", "lxd1"})
	w.play("user", "POST", "/machines/"+made.SystemID+"/", "release")
	w.clock.Advance(time.Minute)
	if m = w.machine(made.SystemID); m.Status != int(StatusReady) {
		t.Errorf("released to %d, want Ready", m.Status)
	}
	w.play("admin", "DELETE", "/machines/"+made.SystemID+"/", "")
	if h := w.host(1); h.UsedCores != 0 || h.UsedMiB != 0 || h.UsedStorageBytes != 0 || h.Machines != nil {
		t.Errorf("after the delete the host has %+v", h)
	}
}

func TestHostsGiveNoMoreThanTheyHave(t *testing.T) {
	t.Parallel()
	w := composeWorld(t, nil)
	w.play("admin", "POST", "/vm-hosts/1/", "compose", [2]string{"cores", "7"}, [2]string{"memory", "10240"}, [2]string{"skip_commissioning", "true"})
	w.ask("admin", "POST", "/vm-hosts/1/", "compose", [2]string{"cores", "2"}).wants(t, 503,
		"Unable to compose KVM instance in 'lxd1'. CPU overcommit ratio is 1.0 and there are 1 available resources; 2 requested.")
	w.ask("admin", "POST", "/vm-hosts/1/", "compose", [2]string{"memory", "8192"}).wants(t, 503,
		"Unable to compose KVM instance in 'lxd1'. Memory overcommit ratio is 1.0 and there are 6144 available resources; 8192 requested.")
	// The pool of 50 GB holds the 8 GB of the first machine.
	for _, storage := range []string{"root:43(fast)", "root:30,data:13(fast)"} {
		w.ask("admin", "POST", "/vm-hosts/1/", "compose", [2]string{"storage", storage}).wants(t, 503, "Unable to compose machine because: Not enough storage space on storage pools: fast")
	}
	w.play("admin", "POST", "/vm-hosts/1/", "compose", [2]string{"storage", "root:42"})
	w.play("admin", "DELETE", "/machines/"+w.host(1).Machines[1]+"/", "")
	w.play("admin", "PUT", "/vm-hosts/1/", "", [2]string{"cpu_over_commit_ratio", "1.5"})
	w.play("admin", "POST", "/vm-hosts/1/", "compose", [2]string{"cores", "5"})
	w.ask("admin", "POST", "/vm-hosts/1/", "compose", [2]string{"interfaces", "eth0:space=sp1"}).wants(t, 503,
		"Unable to compose KVM instance in 'lxd1'. CPU overcommit ratio is 1.5 and there are -4 available resources; 1 requested.")
}

// The zone is that of the host only as a constraint: what MAAS makes is in the
// default one.
func TestAllocateComposesWhenNothingMatches(t *testing.T) {
	t.Parallel()
	w := composeWorld(t, nil)
	m := decoded[shownMachine](t, w.ask("user", "POST", "/machines/", "allocate", [2]string{"cpu_count", "3"}, [2]string{"mem", "2048"}, [2]string{"zone", "z1"}, [2]string{"tags", "ssd"}, [2]string{"agent_name", "a1"}))
	if m.Status != int(StatusAllocated) || *m.Owner != "user" || m.CPUCount != 3 || m.Zone.Name != "default" || m.Pool.Name != "p1" || m.Pod == nil {
		t.Errorf("allocated %+v", m)
	}
	shown := w.region.Snapshot().Machines[0]
	if !shown.Dynamic || shown.VMHost != "lxd1" {
		t.Errorf("snapshot %+v, want a dynamic machine of lxd1", shown)
	}
	w.play("user", "POST", "/machines/"+m.SystemID+"/", "deploy")
	w.clock.Advance(3 * time.Hour)
	m = w.machine(m.SystemID)
	w.play("admin", "POST", "/dnsresources/", "", [2]string{"fqdn", "api.maas"}, [2]string{"ip_addresses", m.IPAddresses[0]})
	w.play("user", "POST", "/machines/"+m.SystemID+"/", "release")
	w.clock.Advance(time.Minute)
	w.ask("user", "GET", "/machines/"+m.SystemID+"/", "").wants(t, 404, "No Machine matches the given query.")
	after := w.region.Snapshot()
	if len(after.Machines) != 0 || len(after.DNSResources) != 0 || len(after.ReservedIPs) != 0 || after.VMHosts[0].UsedCores != 0 || len(w.region.state.addresses.rows) != 0 {
		t.Errorf("after the release there is %+v", after)
	}
}

func TestADryRunLeavesWhatItComposed(t *testing.T) {
	t.Parallel()
	w := composeWorld(t, nil)
	m := decoded[shownMachine](t, w.ask("user", "POST", "/machines/", "allocate", [2]string{"dry_run", "true"}))
	if m.Status != int(StatusReady) || m.Owner != nil || m.CPUCount != 1 || m.Memory != 2048 {
		t.Errorf("a dry run composed %+v", m)
	}
	wide := decoded[shownMachine](t, w.ask("user", "POST", "/machines/", "allocate", [2]string{"dry_run", "true"}, [2]string{"cpu_count", "2"}, [2]string{"cpu_count", "3"}))
	if wide.CPUCount != 2 {
		t.Errorf("composed %d cores, want the least that was named", wide.CPUCount)
	}
	again := decoded[shownMachine](t, w.ask("user", "POST", "/machines/", "allocate"))
	if again.SystemID != m.SystemID {
		t.Errorf("allocated %s, want %s, which the dry run left", again.SystemID, m.SystemID)
	}
}

func TestWhatKeepsAnAllocateFromComposing(t *testing.T) {
	t.Parallel()
	for _, form := range []string{
		"system_id=zzzzzz", "not_pod=lxd1", "not_pod_type=lxd", "zone=z2", "tags=gpu", "tags=ssd&tags=gpu", "cpu_count=9", "mem=20000", "pod=other",
		"pod_type=virsh", "arch=arm64", "not_tags=ssd", "storage=root:60(fast)", "interfaces=eth0:space=sp1",
	} {
		w := composeWorld(t, nil)
		w.add(Machine{Hostname: "arm", Architecture: "arm64", Tags: []string{"gpu"}})
		w.force(w.region.Snapshot().Machines[0].SystemID, fixture{status: StatusBroken, known: true})
		var pairs [][2]string
		for _, pair := range strings.Split(form, "&") {
			key, value, _ := strings.Cut(pair, "=")
			pairs = append(pairs, [2]string{key, value})
		}
		if got := w.ask("user", "POST", "/machines/", "allocate", pairs...); got.status == 200 || len(w.region.Snapshot().Machines) != 1 {
			t.Errorf("%s: %d with %d machines, want no machine composed", form, got.status, len(w.region.Snapshot().Machines))
		}
	}
}

func TestAFailingHostIsForgottenByAllocateAndNextOnesAreTried(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) { cfg.VMHosts = []VMHost{{Name: "a"}, {Name: "b", Type: "virsh"}} })
	w.region.SetHardware(func(e HardwareEvent) Trouble {
		if e.Moment == MomentCompose && e.Hostname == "a" {
			return Trouble{Fail: "Failed talking to pod: no route"}
		}
		return Trouble{}
	})
	w.ask("admin", "POST", "/vm-hosts/1/", "compose").wants(t, 503, "Unable to compose machine because: Failed talking to pod: no route")
	if m := decoded[shownMachine](t, w.ask("user", "POST", "/machines/", "allocate")); m.PowerType != "virsh" || m.Pod.Name != "b" {
		t.Errorf("allocated %+v, want one of the host that works", m)
	}
	w.ask("user", "POST", "/machines/", "allocate", [2]string{"pod", "a"}).wants(t, 409, `No available machine matches constraints: [('pod', ['a'])] (resolved to "pod=a")`)
}

func TestComposingTakesTimeThatItsClientWaitsFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) {
		cfg.VMHosts = []VMHost{{Name: "a"}}
		cfg.Durations.Compose = 40 * time.Second
	})
	w.clock.MoveWithRequests(true)
	took := func(ask func()) time.Duration {
		before := w.clock.Now()
		ask()
		return w.clock.Now().Sub(before)
	}
	if d := took(func() { w.play("user", "POST", "/machines/", "allocate") }); d != 40*time.Second {
		t.Errorf("an allocate that composed took %s, want 40s", d)
	}
	w.region.SetHardware(func(e HardwareEvent) Trouble { return Trouble{Delay: 90 * time.Second} })
	if d := took(func() {
		w.ask("admin", "POST", "/vm-hosts/1/", "compose").wants(t, 503, "Unable to compose a machine because 'lxd' driver timed out after 120 seconds.")
	}); d != 2*time.Minute {
		t.Errorf("a compose that timed out took %s, want 2m", d)
	}
	w.region.SetHardware(func(e HardwareEvent) Trouble { return Trouble{Stuck: true} })
	if d := took(func() { w.ask("user", "POST", "/machines/", "allocate").wants(t, 409, "No machine available.") }); d != 2*time.Minute {
		t.Errorf("an allocate whose compose timed out took %s, want 2m", d)
	}
	if n := len(w.region.Snapshot().Machines); n != 1 {
		t.Errorf("%d machines, want the one that was composed in time", n)
	}
}

func TestVMHostsCanBeAddedChangedAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) {
		cfg.VMHosts = []VMHost{{Name: "later", Cores: 64, MemoryMiB: 4096, PowerAddress: "https://10.9.9.40:8443", Unregistered: true}}
	})
	w.ask("admin", "POST", "/vm-hosts/", "", [2]string{"name", "h1"}).wants(t, 400, `{"type": ["This field is required."]}`)
	w.ask("admin", "POST", "/vm-hosts/", "", [2]string{"type", "lxd"}).wants(t, 400, `{"power_address": ["This field is required."]}`)
	made := decoded[vmHostJSON](t, w.ask("admin", "POST", "/pods/", "", [2]string{"type", "lxd"}, [2]string{"name", "h1"}, [2]string{"power_address", "https://10.9.9.40:8443"}, [2]string{"zone", "z1"}, [2]string{"tags", "a,b"}))
	if made.Total.Cores != 0 || made.Zone.Name != "z1" || !slices.Equal(made.Tags, []string{"a", "b", "pod-console-logging"}) {
		t.Errorf("made %+v, want one that nobody looked at yet", made)
	}
	path := fmt.Sprintf("/vm-hosts/%d/", made.ID)
	w.ask("admin", "POST", path, "compose").wants(t, 503, "Unable to compose KVM instance in 'h1'. CPU overcommit ratio is 1.0 and there are 0 available resources; 1 requested.Memory overcommit ratio is 1.0 and there are 0 available resources; 2048 requested.")
	w.clock.Advance(time.Hour)
	if got := decoded[vmHostJSON](t, w.ask("user", "GET", path, "")); got.Total.Cores != 64 || got.Total.Memory != 4096 || got.Available.LocalStorage != 1e12 || got.Version == "" {
		t.Errorf("commissioned: %+v", got)
	}
	w.ask("admin", "POST", "/vm-hosts/", "", [2]string{"type", "lxd"}, [2]string{"power_address", "https://10.9.9.40:8443"}, [2]string{"name", "h2"}).wants(t, 400, "Pod h2 with type and parameters already exist.")
	w.play("admin", "POST", path, "compose", [2]string{"skip_commissioning", "true"})
	w.ask("admin", "PUT", path, "", [2]string{"type", "virsh"}).wants(t, 400, `{"type": ["Cannot change the type of a pod. Delete and re-create the pod with a different type."]}`)
	w.ask("admin", "PUT", path, "", [2]string{"memory_over_commit_ratio", "11"}, [2]string{"pool", "x"}).wants(t, 400,
		`{"pool": ["Select a valid choice. That choice is not one of the available choices."], "memory_over_commit_ratio": ["Ensure this value is less than or equal to 10."]}`)
	if got := decoded[vmHostJSON](t, w.ask("admin", "POST", path, "remove_tag", [2]string{"tag", "a"})); !slices.Equal(got.Tags, []string{"b", "pod-console-logging"}) {
		t.Errorf("tags %v", got.Tags)
	}
	w.ask("admin", "DELETE", path, "", [2]string{"decompose", "true"}).wants(t, 204, "")
	w.ask("admin", "GET", path, "").wants(t, 404, "Not Found")
	if n := len(w.region.Snapshot().Machines); n != 0 {
		t.Errorf("%d machines after their host was removed, want none", n)
	}
}

func TestAHostThatCannotBeTalkedToIsAddedWithNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.region.SetHardware(func(e HardwareEvent) Trouble { return Trouble{Fail: "Failed talking to VM host: refused"} })
	got := decoded[vmHostJSON](t, w.ask("admin", "POST", "/vm-hosts/", "", [2]string{"type", "virsh"}, [2]string{"power_address", "qemu+ssh://a/system"}, [2]string{"name", "v"}))
	if got.Total.Cores != 0 {
		t.Errorf("made %+v", got)
	}
	w.ask("admin", "POST", "/vm-hosts/1/", "refresh").wants(t, 503, "Failed talking to VM host: refused")
	w.region.SetHardware(nil)
	if got := decoded[vmHostJSON](t, w.ask("admin", "POST", "/vm-hosts/1/", "refresh")); got.Total.Cores != 16 {
		t.Errorf("refreshed %+v, want what a host has whom nobody described", got)
	}
}

func TestHostsOutliveTheirZoneAndPool(t *testing.T) {
	t.Parallel()
	w := composeWorld(t, nil)
	w.play("admin", "DELETE", "/zones/z1/", "")
	w.play("admin", "DELETE", "/resourcepool/p1/", "")
	if got := decoded[vmHostJSON](t, w.ask("user", "GET", "/vm-hosts/1/", "")); got.Zone.Name != "default" || got.Pool.Name != "default" {
		t.Errorf("the host is in zone %s and pool %s, want the default ones", got.Zone.Name, got.Pool.Name)
	}
}

func TestACopyOfTheRegionKeepsItsHosts(t *testing.T) {
	t.Parallel()
	w := composeWorld(t, nil)
	old := w.region.View()
	w.play("admin", "DELETE", "/vm-hosts/1/", "")
	w.region.SetIntercept(func(Request) Fault { return Fault{From: old} })
	if got := decoded[vmHostJSON](t, w.ask("user", "GET", "/vm-hosts/1/", "")); got.Name != "lxd1" {
		t.Errorf("a stale read shows %+v", got)
	}
}

func TestNewNamesWhatIsWrongWithAVMHost(t *testing.T) {
	t.Parallel()
	for want, host := range map[string]VMHost{
		"no name": {}, `type "kvm"`: {Name: "a", Type: "kvm"}, `no zone "z9"`: {Name: "a", Zone: "z9"}, `no subnet "x"`: {Name: "a", Subnet: "x"},
		"size in gb": {Name: "a", StoragePools: []StoragePool{{Name: "p"}}},
	} {
		if _, err := New(Config{VMHosts: []VMHost{host}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error with %q", host, err, want)
		}
	}
	if _, err := New(Config{VMHosts: []VMHost{{Name: "a"}, {Name: "a"}}}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("two hosts of one name: %v", err)
	}
}
