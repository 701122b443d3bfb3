package simulator

import (
	"testing"
	"time"
)

const enlistedMAC = "52:54:00:0a:0b:0c"

func TestMachinesAreMadeByRequest(t *testing.T) {
	t.Parallel()
	const noMAC = `{"mac_addresses": ["This field is required."]}`
	arch, mac := [2]string{"architecture", "amd64"}, [2]string{"mac_addresses", enlistedMAC}
	for _, tt := range []struct {
		name, user string
		form       [][2]string
		status     int
		want       string // the machine's state, or a refusal
		owner      string
	}{
		{"admin", "admin", [][2]string{arch, mac}, 200, "Commissioning", "admin"},
		{"admin, without commissioning", "admin", [][2]string{arch, mac, {"commission", "false"}}, 200, "New", ""},
		{"admin, deployed", "admin", [][2]string{arch, mac, {"deployed", "true"}}, 200, "Deployed", "admin"},
		{"user", "user", [][2]string{arch, mac}, 200, "New", ""},
		{"nobody", "anonymous", [][2]string{arch, mac, {"commission", "true"}}, 200, "New", ""},
		{"admin, BMC alone", "admin", [][2]string{{"power_type", "ipmi"}, {"power_parameters_power_address", "10.9.0.9"}}, 200, "Commissioning", "admin"},
		{"nobody, BMC alone", "anonymous", [][2]string{arch, {"power_type", "ipmi"}}, 400, noMAC, ""},
		{"no MAC", "admin", [][2]string{arch}, 400, noMAC, ""},
		{"bad MAC", "admin", [][2]string{arch, {"mac_addresses", "x"}}, 400, `{"mac_addresses": ["'x' is not a valid MAC address."]}`, ""},
		{"taken MAC", "admin", [][2]string{arch, {"mac_addresses", "52:54:00:00:00:01"}}, 400, `{"mac_addresses": ["MAC address 52:54:00:00:00:01 already in use on old."]}`, ""},
		{"bad architecture", "admin", [][2]string{{"architecture", "vax"}, mac}, 400, `{"architecture": ["'vax/generic' is not a valid architecture.  It should be one of: 'amd64/generic'."]}`, ""},
		{"taken name", "admin", [][2]string{arch, mac, {"hostname", "old"}}, 400, `{"hostname": ["Node with this Hostname already exists."]}`, ""},
		{"unknown domain", "admin", [][2]string{arch, mac, {"domain", "nope"}}, 400, `{"domain": ["Unable to find domain nope"]}`, ""},
		{"bad flag", "admin", [][2]string{arch, mac, {"commission", "maybe"}}, 400, "Invalid commission: Value should be 'true' or 'false'", ""},
	} {
		w := newWorld(t, func(cfg *Config) { cfg.Machines = []Machine{{Hostname: "old", MAC: "52:54:00:00:00:01"}} })
		got := w.ask(tt.user, "POST", "/machines/", "", tt.form...)
		all := w.region.state.machines.all()
		if tt.status != 200 {
			got.wants(t, tt.status, tt.want)
			if len(all) != 1 {
				t.Errorf("%s: a machine was made all the same", tt.name)
			}
			continue
		}
		m := decoded[map[string]any](t, got)
		if m["status_name"] != tt.want || len(all) != 2 || all[1].owner != tt.owner || all[1].cores != 0 {
			t.Errorf("%s: %v, owner %q, %d cores", tt.name, m["status_name"], all[1].owner, all[1].cores)
		}
		if _, whole := m["interface_set"]; whole == (tt.user == "anonymous") {
			t.Errorf("%s: shown are %v", tt.name, m)
		}
	}
}

func TestMadeMachineIsCommissioned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) { cfg.Durations.Commission = time.Minute })
	made := decoded[map[string]any](t, w.ask("admin", "POST", "/machines/", "", [2]string{"architecture", "amd64"}, [2]string{"mac_addresses", enlistedMAC},
		[2]string{"mac_addresses", "52:54:00:0A:0B:0D"}, [2]string{"hostname", "new.c1.example"}, [2]string{"zone", "z1"}, [2]string{"pool", "p1"},
		[2]string{"power_type", "redfish"}, [2]string{"power_parameters_power_address", "10.9.0.9"}, [2]string{"description", "d"}))
	id := made["system_id"].(string)
	w.clock.Advance(2 * time.Minute)
	m := decoded[machineJSON](t, w.ask("user", "GET", "/machines/"+id+"/", ""))
	if m.StatusName != "Ready" || m.Owner != nil || m.FQDN != "new.c1.example" || m.Zone.Name != "z1" || m.Pool.Name != "p1" || m.Description != "d" ||
		m.CPUCount != 4 || m.Memory != 8192 || len(m.BlockDevices) != 1 || len(m.InterfaceSet) != 2 || m.PowerType != "redfish" {
		t.Errorf("after commissioning: %+v", m)
	}
	if got := decoded[map[string]string](t, w.ask("admin", "GET", "/machines/"+id+"/", "power_parameters")); len(got) != 1 || got["power_address"] != "10.9.0.9" {
		t.Errorf("power parameters: %v", got)
	}
	w.play("user", "POST", "/machines/", "allocate", [2]string{"system_id", id})
	w.play("user", "POST", "/machines/"+id+"/", "deploy")
}

func TestCommissioningFindsNoDisksInAMachineWithoutAny(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) {
		cfg.Durations.Commission, cfg.Machines = 0, []Machine{{Hostname: "diskless", SystemID: "abc346", DiskGB: -1}}
	})
	w.play("admin", "POST", "/machines/abc346/", "commission")
	w.clock.Advance(time.Minute)
	if m := decoded[machineJSON](t, w.ask("admin", "GET", "/machines/abc346/", "")); m.StatusName != "Ready" || len(m.BlockDevices) != 0 {
		t.Errorf("after commissioning it is %s with the disks %+v", m.StatusName, m.BlockDevices)
	}
}

func TestEnlistedMachinesAreAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) { cfg.Machines = []Machine{{Hostname: "old", SystemID: "abc346"}} })
	enlist := func(mac string) string {
		return decoded[map[string]any](t, w.ask("anonymous", "POST", "/machines/", "", [2]string{"architecture", "amd64"}, [2]string{"mac_addresses", mac}))["system_id"].(string)
	}
	first := enlist(enlistedMAC)
	if again := enlist(enlistedMAC); again != first {
		t.Errorf("a machine that enlists again becomes %s after %s", again, first)
	}
	second := enlist("52:54:00:0a:0b:0d")
	accept := func(user, id string) reply {
		return w.ask(user, "POST", "/machines/", "accept", [2]string{"machines", id})
	}
	accept("user", first).wants(t, 403, "You don't have the required permission to accept the following machine(s): "+first+".")
	accept("admin", "zzz346").wants(t, 400, "Unknown machine(s): zzz346.")
	accept("admin", "abc346").wants(t, 200, "[]")
	if got := decoded[[]machineJSON](t, accept("admin", first)); len(got) != 1 || got[0].StatusName != "Commissioning" {
		t.Errorf("accepted: %+v", got)
	}
	w.ask("user", "POST", "/machines/", "accept_all").wants(t, 200, "[]")
	if got := decoded[[]machineJSON](t, w.ask("admin", "POST", "/machines/", "accept_all")); len(got) != 1 || got[0].SystemID != second {
		t.Errorf("accepted: %+v", got)
	}
	w.play("user", "POST", "/machines/", "allocate", [2]string{"system_id", "abc346"})
	accept("admin", "abc346").wants(t, 409, "Cannot accept node enlistment: node abc346 is in state Allocated.")
}
