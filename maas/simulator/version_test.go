package simulator

import (
	"encoding/json"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestVersionsThatCanBeImitated(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"": "3.7.3", "3.3": "3.3.9", "3.4.8": "3.4.8", "3.5.0": "3.5.0", "3.6": "3.6.5", "3.7.9": "3.7.9",
		"3.2.10": `version "3.2.10": MAAS 3.3 to 3.7 can be imitated`, "3.8": `version "3.8": MAAS 3.3 to 3.7 can be imitated`,
		"2.9": `version "2.9": MAAS 3.3 to 3.7 can be imitated`, "new": `version "new" is not like 3.7.3`, "3.7.": `version "3.7." is not like 3.7.3`,
	} {
		region, err := New(Config{Version: given})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = region.cfg.Version
			region.Close()
		}
		if got != want {
			t.Errorf("version %q: %s, want %s", given, got, want)
		}
	}
}

// versionRow is something that differs between versions: what see finds in a
// world of each.
type versionRow struct {
	what string
	see  func(*world) string
	want [5]string // of comparedVersions
}

// comparedVersions are the columns of the table: the releases that were
// measured, and for MAAS 3.3 what its source says.
func comparedVersions() [5]string { return [...]string{"3.3.9", "3.4.10", "3.5.13", "3.6.4", "3.7.3"} }

const (
	badSeries   = `400 {"distro_series": ["'22.04' is not a valid distro_series.  It should be one of: '', 'custom/u-2204-0-k-1.30.4', 'ubuntu/focal', 'ubuntu/jammy'."]}`
	noRackd     = "400 Deploying a machine as a rackd has been disabled and it's not supported anymore."
	noKVMInRAM  = "400 A machine can not be a VM host if it is deployed to memory."
	noKVMInRAM4 = "400 Cannot deploy as a VM host for ephemeral deployments."
	badErase    = "400 Invalid erase: Value should be 'true' or 'false'"
	noTarget    = `400 {"deployment_target": ["No such constraint."]}`
	noQueue     = "500 Error determining BMC task queue for machine vr0001"
	noPower     = "500 'NoneType' object has no attribute 'get_routable_usable_rack_controllers'"
	dupSubnet   = `400 {"cidr": ["Subnet with this Cidr already exists."]}`
	dupSubnet7  = `400 {"__all__": ["Subnet 10.9.0.0/16 would overlap with existing subnets."], "cidr": ["Subnet with this Cidr already exists."]}`
	tagText     = "403 Must be a superuser or supply a rack_controller"
)

func versionRows() []versionRow {
	return []versionRow{
		{"machine JSON: keys", machineKeys, [5]string{"78", "78", "79", "80", "81"}},
		{"machine JSON: newest key", newestKey, [5]string{"enable_hw_sync", "enable_hw_sync", "error_description", "enable_kernel_crash_dump", "is_dpu"}},
		{"deploy, distro_series=22.04", deployWith("distro_series", "22.04"), [5]string{badSeries, badSeries, badSeries, "200 Deploying", "200 Deploying"}},
		{"deploy, install_rackd", deployWith("install_rackd", "true"), [5]string{"200 Deploying", noRackd, "200 Deploying", "200 Deploying", noRackd}},
		{"deploy, KVM in memory", deployWith("install_kvm", "true", "ephemeral_deploy", "true"), [5]string{noKVMInRAM4, noKVMInRAM4, noKVMInRAM, noKVMInRAM, noKVMInRAM}},
		{"deploy without disks: ephemeral_deploy", deployDiskless, [5]string{"false", "false", "true", "true", "true"}},
		{"deploy, manual power", deployUnder("manual"), [5]string{"200 Deploying", "200 Deploying", "200 Deploying", noQueue, "200 Deploying"}},
		{"deploy, no power type", deployUnder(""), [5]string{"200 Deploying", "200 Deploying", "200 Deploying", noPower, noPower}},
		{"release, quick_erase alone", releaseWith("quick_erase", "true"), [5]string{"200 Releasing", "200 Releasing", "200 Disk erasing", "200 Disk erasing", "200 Disk erasing"}},
		{"release, secure_erase alone", releaseWith("secure_erase", "true"), [5]string{"200 Releasing", "200 Releasing", "200 Disk erasing", "200 Disk erasing", "200 Disk erasing"}},
		{"release, erase=maybe", releaseWith("erase", "maybe"), [5]string{badErase, badErase, "200 Disk erasing", "200 Disk erasing", "200 Disk erasing"}},
		{"mark_broken, running: owner", brokenOwner("on"), [5]string{"", "", "", "admin", "admin"}},
		{"mark_broken, off: owner", brokenOwner("off"), [5]string{"", "", "", "", ""}},
		{"DNS record deleted: reservation", reservationAfterDelete, [5]string{"kept", "kept", "kept", "freed", "freed"}},
		{"list, deployment_target=disk", asked("admin", "GET", "/machines/?deployment_target=disk"), [5]string{noTarget, noTarget, "200", "200", "200"}},
		{"boot-resources: base_image", keyOf("/boot-resources/5/", "base_image"), [5]string{"no", "no", "yes", "yes", "yes"}},
		{"the same subnet again", asked("admin", "POST", "/subnets/", "cidr", "10.9.0.0/16"), [5]string{dupSubnet, dupSubnet, dupSubnet, dupSubnet, dupSubnet7}},
		{"tag update_nodes by a user", asked("user", "POST", "/tags/ssd/?op=update_nodes"), [5]string{tagText, tagText, "403", "403", "403"}},
		{"unknown machine", asked("admin", "GET", "/machines/zzzzzz/"), [5]string{gone, gone, gone, gone, gone}},
		{"version", asked("anonymous", "GET", "/version/"), [5]string{"200", "200", "200", "200", "200"}},
	}
}

const gone = "404 No Machine matches the given query."

func TestVersionsDiffer(t *testing.T) {
	t.Parallel()
	for _, row := range versionRows() {
		for i, version := range comparedVersions() {
			w := versionWorld(t, version)
			if got := row.see(w); got != row.want[i] {
				t.Errorf("%s, MAAS %s: %s, want %s", row.what, version, got, row.want[i])
			}
		}
	}
}

// Patch releases brought keys too.
func TestKeysOfPatchReleases(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"3.3.6": "76", "3.3.7": "78", "3.4.1": "77", "3.4.2": "78"} {
		if got := machineKeys(versionWorld(t, version)); got != want {
			t.Errorf("MAAS %s: %s keys, want %s", version, got, want)
		}
	}
}

// versionWorld has a Ready machine vr0001, and a Deployed one of admin's that
// runs, vr0002.
func versionWorld(t *testing.T, version string) *world {
	t.Helper()
	w := newWorld(t, func(cfg *Config) {
		cfg.Version, cfg.Durations.PowerOff = version, time.Hour
		cfg.Machines = []Machine{{Hostname: "vr-1", SystemID: "vr0001"}, {Hostname: "vr-2", SystemID: "vr0002"}}
	})
	w.force("vr0002", fixture{status: StatusDeployed, owner: "admin", power: "on"})
	return w
}

// request sends one by auth; form holds keys and values in turn.
func (w *world) request(auth, method, target string, form ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	var ex exchange
	path, query, _ := strings.Cut(target, "?")
	ex.Request.Auth, ex.Request.Method, ex.Request.Path = auth, method, apiPrefix+path
	for _, pair := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' }) {
		key, value, _ := strings.Cut(pair, "=")
		ex.Request.Query = append(ex.Request.Query, [2]string{key, value})
	}
	for i := 0; i+1 < len(form); i += 2 {
		ex.Request.Form = append(ex.Request.Form, [2]string{form[i], form[i+1]})
	}
	return w.send(&ex)
}

// brief is an answer's code with what it refuses for, or with the state of the
// machine that it shows.
func brief(rec *httptest.ResponseRecorder) string {
	out := strconv.Itoa(rec.Code)
	if rec.Code >= 400 {
		return strings.TrimSpace(out + " " + rec.Body.String())
	}
	var shown struct {
		Status string `json:"status_name"`
	}
	if json.Unmarshal(rec.Body.Bytes(), &shown) == nil && shown.Status != "" {
		out += " " + shown.Status
	}
	return out
}

func asked(auth, method, target string, form ...string) func(*world) string {
	return func(w *world) string { return brief(w.request(auth, method, target, form...)) }
}

func deployUnder(powerType string) func(*world) string {
	return func(w *world) string {
		if err := w.region.act("vr0001", func(t *tx, m *machine) { edit(t, m).powerType = powerType }); err != nil {
			w.t.Fatal(err)
		}
		return brief(w.request("admin", "POST", "/machines/vr0001/?op=deploy"))
	}
}

func deployWith(form ...string) func(*world) string {
	return func(w *world) string {
		return brief(w.request("admin", "POST", "/machines/vr0001/?op=deploy", form...))
	}
}

func releaseWith(form ...string) func(*world) string {
	return func(w *world) string {
		return brief(w.request("admin", "POST", "/machines/vr0002/?op=release", form...))
	}
}

func (w *world) machineJSON(id string) map[string]any {
	w.t.Helper()
	out := map[string]any{}
	if err := json.Unmarshal(w.request("admin", "GET", "/machines/"+id+"/").Body.Bytes(), &out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

func machineKeys(w *world) string { return strconv.Itoa(len(w.machineJSON("vr0001"))) }

func newestKey(w *world) string {
	shown := w.machineJSON("vr0001")
	for _, key := range []string{"is_dpu", "enable_kernel_crash_dump", "error_description", "enable_hw_sync"} {
		if _, there := shown[key]; there {
			return key
		}
	}
	return ""
}

func deployDiskless(w *world) string {
	w.add(Machine{Hostname: "vr-3", SystemID: "vr0003", DiskGB: -1})
	if rec := w.request("admin", "POST", "/machines/vr0003/?op=deploy"); rec.Code != 200 {
		return brief(rec)
	}
	value, _ := w.machineJSON("vr0003")["ephemeral_deploy"].(bool)
	return strconv.FormatBool(value)
}

func brokenOwner(power string) func(*world) string {
	return func(w *world) string {
		w.force("vr0002", fixture{status: StatusDeployed, owner: "admin", power: power})
		if rec := w.request("admin", "POST", "/machines/vr0002/?op=mark_broken"); rec.Code != 200 {
			return brief(rec)
		}
		owner, _ := w.machineJSON("vr0002")["owner"].(string)
		return owner
	}
}

func reservationAfterDelete(w *world) string {
	var made struct{ ID int }
	rec := w.request("admin", "POST", "/dnsresources/", "fqdn", "a.maas", "ip_addresses", "10.20.3.9")
	if err := json.Unmarshal(rec.Body.Bytes(), &made); err != nil {
		w.t.Fatal(err)
	}
	w.request("admin", "DELETE", "/dnsresources/"+strconv.Itoa(made.ID)+"/")
	if strings.Contains(w.request("admin", "GET", "/ipaddresses/").Body.String(), "10.20.3.9") {
		return "kept"
	}
	return "freed"
}

func keyOf(path, key string) func(*world) string {
	return func(w *world) string {
		shown := map[string]any{}
		if err := json.Unmarshal(w.request("admin", "GET", path).Body.Bytes(), &shown); err != nil {
			return err.Error()
		}
		if _, there := shown[key]; there {
			return "yes"
		}
		return "no"
	}
}
