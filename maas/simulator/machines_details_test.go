package simulator

import (
	"maps"
	"strings"
	"testing"
)

func TestPowerParametersFollowUpdates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) { cfg.Machines = []Machine{{Hostname: "m", SystemID: "abc346"}} })
	read := func() map[string]string {
		return decoded[map[string]string](t, w.ask("admin", "GET", "/machines/abc346/", "power_parameters"))
	}
	if got := read(); got["power_address"] != "10.9.0.2" || got["power_user"] == "" || got["power_pass"] == "" {
		t.Errorf("made-up parameters: %v", got)
	}
	w.ask("admin", "PUT", "/machines/abc346/", "", [2]string{"power_parameters_power_address", "10.9.9.9"}, [2]string{"power_parameters_skip_check", "true"})
	if got := read(); got["power_address"] != "10.9.9.9" || got["power_user"] == "" || got["skip_check"] != "" {
		t.Errorf("after an update of one: %v", got)
	}
	w.ask("admin", "PUT", "/machines/abc346/", "", [2]string{"power_type", "virsh"}, [2]string{"power_parameters_power_id", "vm-1"})
	if got := read(); !maps.Equal(got, map[string]string{"power_id": "vm-1"}) {
		t.Errorf("after an update of the type: %v", got)
	}
	w.ask("user", "GET", "/machines/", "power_parameters").wants(t, 403, "This method is reserved for admin users.")
	w.ask("user", "GET", "/machines/zzz346/", "power_parameters").wants(t, 404, "No Machine matches the given query.")
}

func TestTokenAndCurtinConfigOfADeployedMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) { cfg.Machines = []Machine{{Hostname: "m", SystemID: "abc346"}} })
	w.play("user", "POST", "/machines/", "allocate")
	w.play("user", "POST", "/machines/abc346/", "deploy")
	w.play("admin", "POST", "/machines/abc346/", "lock")
	key := decoded[map[string]string](t, w.ask("admin", "GET", "/machines/abc346/", "get_token"))
	if key["token_key"] == "" || key["token_secret"] == "" || key["consumer_key"] == "" {
		t.Errorf("token of a locked machine: %v", key)
	}
	w.ask("user", "GET", "/machines/abc346/", "get_token").wants(t, 403, "")
	w.ask("user2", "GET", "/machines/abc346/", "get_curtin_config").wants(t, 403, "")
	got := w.ask("user", "GET", "/machines/abc346/", "get_curtin_config")
	if !strings.Contains(got.body, "address: 10.20.0.3/21") || !strings.Contains(got.body, "gateway: 10.20.0.1") {
		t.Errorf("curtin's configuration: %s", got.body)
	}
}
