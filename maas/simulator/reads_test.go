package simulator

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestOneRackController(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, path := range []string{"/rackcontrollers/", "/rackcontrollers/" + rackID + "/"} {
		got := w.ask("user", "GET", path, "")
		if path == "/rackcontrollers/" {
			got.body = got.body[1 : len(got.body)-1]
		}
		if rack := decoded[rackJSON](t, got); rack.FQDN != "rack1.maas" || !slices.Equal(rack.IPAddresses, []string{"10.20.0.2"}) || rack.Version != "3.7.3" {
			t.Errorf("%s: %+v", path, rack)
		}
	}
	w.ask("user", "GET", "/rackcontrollers/abc346/", "").wants(t, 404, "No RackController matches the given query.")
	w.ask("user", "GET", "/rackcontrollers/", "is_registered", [2]string{"mac_address", "52:54:00:11:22:33"}).wants(t, 200, "false")
}

func TestFilesAreNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.ask("anonymous", "GET", "/files/", "get", [2]string{"filename", "x"}).wants(t, 404, "File not found")
	w.ask("anonymous", "GET", "/files/", "get").wants(t, 400, "No provided filename!")
	w.ask("anonymous", "GET", "/files/", "get_by_key", [2]string{"key", "x"}).wants(t, 404, "No FileStorage matches the given query.")
	w.ask("user", "GET", "/files/", "").wants(t, 200, "[]")
}

func TestAPIDescribesItself(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.5.13", "3.6.4"} {
		w := newWorld(t, func(cfg *Config) { cfg.Version = version })
		var got descriptionJSON
		if err := json.Unmarshal([]byte(w.ask("anonymous", "GET", "/describe/", "").body), &got); err != nil {
			t.Fatal(err)
		}
		found := map[string]describedAPI{}
		for _, res := range got.Resources {
			found[res.Name] = res
		}
		machine, machines := found["MachineHandler"], found["MachinesHandler"]
		if machine.Anon != nil || machine.Auth == nil || machine.Auth.URI != "http://example.com/MAAS/api/2.0/machines/{system_id}/" || !slices.Equal(machine.Auth.Params, []string{"system_id"}) {
			t.Errorf("machine: %+v", machine)
		}
		if machines.Anon == nil || !slices.ContainsFunc(machines.Auth.Actions, func(a describedAction) bool { return a.Name == "allocate" && *a.Op == "allocate" && !a.Restful }) {
			t.Errorf("machines: %+v", machines)
		}
		if _, known := found["ReservedIpsHandler"]; known != (version == "3.6.4") {
			t.Errorf("MAAS %s has reserved IPs: %t", version, known)
		}
	}
}
