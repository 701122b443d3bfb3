package simulator

import (
	"fmt"
	"strings"
	"testing"
)

func TestSettingsTakeEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) { cfg.Machines = []Machine{{Hostname: "m", SystemID: "abc346"}} })
	set := func(user, name, value string) reply {
		return w.ask(user, "POST", "/maas/", "set_config", [2]string{"name", name}, [2]string{"value", value})
	}
	set("admin", "vcenter_password", "SECRET").wants(t, 200, "OK")
	if log := fmt.Sprintf("%+v", w.region.Requests()); strings.Contains(log, "SECRET") {
		t.Errorf("a secret is in the access log: %s", log)
	}
	set("user", "default_dns_ttl", "5").wants(t, 403, "This method is reserved for admin users.")
	set("admin", "default_dns_ttl", "soon").wants(t, 400, `{"default_dns_ttl": ["Enter a whole number."]}`)
	set("admin", "default_distro_series", "nope").wants(t, 400,
		`{"default_distro_series": ["'nope' is not a valid release.  It should be one of: 'focal', 'jammy'."]}`)
	for name, value := range map[string]string{
		"default_dns_ttl": "5", "default_distro_series": "focal", "enable_disk_erasing_on_release": "true", "http_proxy": "",
	} {
		set("admin", name, value).wants(t, 200, "OK")
	}
	for name, want := range map[string]string{
		"default_dns_ttl": "5", "default_distro_series": `"focal"`, "enable_disk_erasing_on_release": "true", "http_proxy": "null", "ntp_server": `"ntp.ubuntu.com"`,
	} {
		w.ask("user", "GET", "/maas/", "get_config", [2]string{"name", name}).wants(t, 200, want)
	}
	w.ask("user", "GET", "/maas/", "get_config").wants(t, 400, "No provided name!")
	if got := w.region.state.recordTTL(); got != 5 {
		t.Errorf("records live for %d s", got)
	}
	w.play("user", "POST", "/machines/", "allocate")
	w.play("user", "POST", "/machines/abc346/", "deploy")
	if m := w.region.state.machines.rows["abc346"]; m.series != "focal" {
		t.Errorf("deployed %s", m.series)
	}
	w.play("user", "POST", "/machines/abc346/", "release")
	if m := w.region.state.machines.rows["abc346"]; m.status != StatusDiskErasing {
		t.Errorf("a release made it %s", m.status)
	}
}

func TestSettingsOfAVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) { cfg.Version = "3.5.13" })
	got := w.ask("admin", "GET", "/maas/", "get_config", [2]string{"name", "enable_kernel_crash_dump"})
	if got.status != 400 || !strings.Contains(got.body, " max_node_release_results,") {
		t.Errorf("%d %s", got.status, got.body)
	}
}
