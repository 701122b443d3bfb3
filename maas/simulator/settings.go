package simulator

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// settingOperations are the calls of the region's settings.
func settingOperations() []operation {
	return []operation{
		{http.MethodGet, "/maas/", "get_config", users, readSetting, ""},
		{
			http.MethodPost, "/maas/", "set_config", admins, changeSetting,
			"default_osystem, default_distro_series, default_dns_ttl and enable_disk_erasing_on_release have an effect, others are kept",
		},
	}
}

// The settings that change what the region does.
const (
	settingSystem = "default_osystem"
	settingSeries = "default_distro_series"
	settingTTL    = "default_dns_ttl"
	settingErase  = "enable_disk_erasing_on_release"
)

// setting is one of MAAS's settings, with what it is when nobody set it. The
// type of that is the type of the setting; nil stands for a text or null.
type setting struct {
	name  string
	value any
	// major and minor are the version that brought it; zero for 3.4 or older.
	major, minor int
}

// settings lists MAAS's settings in the order in which its errors name them.
// The version of those that came after 3.4 is the first in which it is sure.
func (r *Region) settings() []setting {
	system, series, _ := strings.Cut(r.cfg.DefaultSeries, "/")
	_, commissioning, _ := strings.Cut(commissioningImage, "/")
	all := []setting{
		{"maas_name", "simulator", 0, 0}, {"theme", "", 0, 0}, {"kernel_opts", nil, 0, 0}, {"enable_http_proxy", true, 0, 0},
		{"maas_proxy_port", 8000, 0, 0}, {"use_peer_proxy", false, 0, 0}, {"prefer_v4_proxy", false, 0, 0}, {"http_proxy", nil, 0, 0},
		{settingTTL, defaultTTL, 0, 0}, {"upstream_dns", nil, 0, 0}, {"dnssec_validation", "auto", 0, 0},
		{"maas_internal_domain", "maas-internal", 0, 0}, {"dns_trusted_acl", nil, 0, 0}, {"ntp_servers", "ntp.ubuntu.com", 0, 0},
		{"ntp_external_only", false, 0, 0}, {"allow_only_trusted_transfers", true, 3, 7}, {"remote_syslog", nil, 0, 0},
		{"maas_syslog_port", 5247, 0, 0}, {"network_discovery", "enabled", 0, 0}, {"active_discovery_interval", 10800, 0, 0},
		{"default_boot_interface_link_type", "auto", 3, 7}, {settingSystem, system, 0, 0}, {settingSeries, series, 0, 0},
		{"default_min_hwe_kernel", "", 0, 0}, {"enable_kernel_crash_dump", false, 3, 6}, {"default_storage_layout", "flat", 0, 0},
		{"commissioning_distro_series", commissioning, 0, 0}, {"enable_third_party_drivers", true, 0, 0}, {"windows_kms_host", nil, 0, 0},
		{settingErase, false, 0, 0}, {"disk_erase_with_secure_erase", true, 0, 0}, {"disk_erase_with_quick_erase", false, 0, 0},
		{"boot_images_auto_import", true, 0, 0}, {"boot_images_no_proxy", false, 0, 0}, {"curtin_verbose", true, 0, 0},
		{"force_v1_network_yaml", false, 0, 0}, {"enable_analytics", true, 0, 0}, {"completed_intro", false, 0, 0},
		{"max_node_commissioning_results", 10, 0, 0}, {"max_node_testing_results", 10, 0, 0}, {"max_node_installation_results", 3, 0, 0},
		{"max_node_release_results", 3, 3, 5}, {"subnet_ip_exhaustion_threshold_count", 16, 0, 0}, {"release_notifications", true, 0, 0},
		{"use_rack_proxy", true, 0, 0}, {"node_timeout", 30, 0, 0}, {"prometheus_enabled", false, 0, 0}, {"prometheus_push_gateway", nil, 0, 0},
		{"prometheus_push_interval", 60, 0, 0}, {"promtail_enabled", false, 0, 0}, {"promtail_port", 5238, 0, 0},
		{"enlist_commissioning", true, 0, 0}, {"maas_auto_ipmi_user", bmcUser, 0, 0}, {"maas_auto_ipmi_user_privilege_level", "ADMIN", 0, 0},
		{"maas_auto_ipmi_k_g_bmc_key", "", 0, 0}, {"maas_auto_ipmi_cipher_suite_id", "3", 0, 0}, {"maas_auto_ipmi_workaround_flags", nil, 0, 0},
		{"vcenter_server", "", 0, 0}, {"vcenter_username", "", 0, 0}, {"vcenter_password", "", 0, 0}, {"vcenter_datacenter", "", 0, 0},
		{"hardware_sync_interval", "15m", 0, 0}, {"tls_cert_expiration_notification_enabled", false, 0, 0},
		{"tls_cert_expiration_notification_interval", 30, 0, 0}, {"session_length", 1209600, 0, 0}, {"auto_vlan_creation", true, 0, 0},
	}
	return slices.DeleteFunc(all, func(s setting) bool { return !r.since(s.major, s.minor) })
}

// findSetting finds a setting as it is when nobody changed it.
func (r *Region) findSetting(name string) (setting, *refusal) {
	if name == "ntp_server" {
		name = "ntp_servers"
	}
	all := r.settings()
	names := make([]string, len(all))
	for i, s := range all {
		if s.name == name {
			return s, nil
		}
		names[i] = s.name
	}
	refused := invalid(name, name+" is not a valid config setting (valid settings are: "+strings.Join(names, ", ")+").")
	refused.contentType = typeBareJSON
	return setting{}, refused
}

func readSetting(c *call) (*answer, *refusal) {
	if refused := c.query.mandatory("name"); refused != nil {
		return nil, refused
	}
	s, refused := c.r.findSetting(c.query.get("name"))
	if refused != nil {
		return nil, refused
	}
	return &answer{status: http.StatusOK, contentType: typeBareJSON, body: pretty(c.settingOf(s.name))}, nil
}

func changeSetting(c *call) (*answer, *refusal) {
	for _, field := range []string{"name", "value"} {
		if refused := c.form.mandatory(field); refused != nil {
			return nil, refused
		}
	}
	s, refused := c.r.findSetting(c.form.get("name"))
	if refused != nil {
		return nil, refused
	}
	value, refused := c.settingValue(s)
	if refused != nil {
		return nil, refused
	}
	saved := c.state.settings
	changed := maps.Clone(saved)
	if changed == nil {
		changed = map[string]any{}
	}
	changed[s.name] = value
	c.state.settings = changed
	c.undo = append(c.undo, func() { c.state.settings = saved })
	c.touchDNS()
	return &answer{status: http.StatusOK, contentType: typePlain, body: []byte("OK")}, nil
}

// settingValue reads a new value as a setting's form does.
func (c *call) settingValue(s setting) (any, *refusal) {
	text := c.form.get("value")
	switch s.value.(type) {
	case bool:
		return c.form.formBoolean("value"), nil
	case int:
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, invalid(s.name, notWhole)
		}
		return n, nil
	case nil:
		if text == "" {
			return nil, nil
		}
	}
	switch s.name {
	case settingSystem:
		return text, c.oneOf(s.name, text, "osystem", 0)
	case settingSeries:
		return text, c.oneOf(s.name, text, "release", 1)
	}
	return text, nil
}

// oneOf refuses a system or series of which the region has no image.
func (c *call) oneOf(field, text, what string, part int) *refusal {
	var names []string
	for _, i := range c.images.all() {
		name := strings.SplitN(i.name, "/", 2)
		if part == 1 && name[0] != c.defaultSystem() {
			continue
		}
		if !slices.Contains(names, name[part]) {
			names = append(names, name[part])
		}
	}
	if slices.Contains(names, text) {
		return nil
	}
	return invalid(field, notOneOf(text, what, names))
}

// settingOf is a setting's value.
func (t *tx) settingOf(name string) any {
	if value, changed := t.settings[name]; changed {
		return value
	}
	for _, s := range t.r.settings() {
		if s.name == name {
			return s.value
		}
	}
	return nil
}

func (t *tx) defaultSystem() string {
	system, _ := t.settingOf(settingSystem).(string)
	return system
}

// defaultImage is what a deploy that names nothing installs: system/series.
func (t *tx) defaultImage() string {
	series, _ := t.settingOf(settingSeries).(string)
	return t.defaultSystem() + "/" + series
}

// erasesOnRelease says whether releases that do not ask for it wipe disks too.
func (t *tx) erasesOnRelease() bool {
	erase, _ := t.settings[settingErase].(bool)
	return erase
}

// recordTTL is the TTL in seconds of records and domains that have none.
func (s *state) recordTTL() uint32 {
	if ttl, changed := s.settings[settingTTL].(int); changed && ttl >= 0 {
		return uint32(ttl)
	}
	return defaultTTL
}

// secretSetting says whether the value of a setting must not be logged.
func secretSetting(name string) bool {
	return strings.Contains(name, "password") || strings.Contains(name, "secret") || strings.HasSuffix(name, "_key")
}
