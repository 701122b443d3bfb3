package simulator

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rule is a request and what MAAS answers: code, and text when it refuses.
type rule struct {
	auth, method, target string
	form                 []string
	want                 string
}

func (w *world) follows(t *testing.T, rules []rule) {
	t.Helper()
	for _, r := range rules {
		got := brief(w.request(r.auth, r.method, r.target, r.form...))
		if got != r.want {
			t.Errorf("%s %s %s %v: %.200s, want %s", r.auth, r.method, r.target, r.form, got, r.want)
		}
	}
}

// rulesWorld has machines of all owners.
func rulesWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, func(cfg *Config) {
		cfg.Durations.PowerOff = time.Hour
		for _, id := range []string{"ready0", "admins", "users0", "locked", "broken"} {
			cfg.Machines = append(cfg.Machines, Machine{Hostname: "h-" + id, SystemID: id})
		}
	})
	w.force("admins", fixture{status: StatusDeployed, owner: "admin", power: "on"})
	w.force("users0", fixture{status: StatusDeployed, owner: "user", power: "on"})
	w.force("locked", fixture{status: StatusDeployed, owner: "user", power: "on", locked: true})
	w.force("broken", fixture{status: StatusBroken})
	w.play("admin", "POST", "/dnsresources/", "", [2]string{"fqdn", "r.maas"}, [2]string{"ip_addresses", "10.20.3.1"})
	return w
}

// MAAS 3.4 to 3.7: what only admins may do is refused in two forms.
func TestAdminsOnly(t *testing.T) {
	t.Parallel()
	const reserved, empty = "403 This method is reserved for admin users.", "403"
	w := rulesWorld(t)
	for target, want := range map[string]string{
		"POST /zones/": reserved, "PUT /zones/z1/": reserved, "DELETE /zones/z1/": reserved,
		"POST /domains/": reserved, "POST /dnsresources/": reserved, "POST /dnsresourcerecords/": reserved, "POST /boot-resources/": reserved,
		"POST /subnets/": reserved, "POST /vm-hosts/": reserved,
		"POST /resourcepools/": empty, "PUT /resourcepool/0/": empty, "DELETE /resourcepool/0/": empty,
		"POST /tags/": empty, "PUT /tags/ssd/": empty, "DELETE /tags/ssd/": empty,
		"PUT /dnsresources/1/": empty, "DELETE /dnsresources/1/": empty, "POST /domains/1/?op=set_default": empty,
		"PUT /machines/ready0/": empty, "DELETE /machines/ready0/": empty, "PUT /machines/users0/": empty, "DELETE /machines/users0/": empty,
		"POST /machines/ready0/?op=commission": empty, "POST /machines/ready0/?op=test": empty, "POST /machines/ready0/?op=rescue_mode": empty,
		"POST /machines/users0/?op=exit_rescue_mode": empty, "POST /machines/broken/?op=mark_fixed": empty,
		"POST /machines/users0/?op=override_failed_testing": empty,
	} {
		method, path, _ := strings.Cut(target, " ")
		w.follows(t, []rule{{"user", method, path, []string{"name", "n"}, want}})
	}
}

// A plain user may do with a machine of nobody's what its owner could.
func TestEditMeansOwnOrNobodys(t *testing.T) {
	t.Parallel()
	rulesWorld(t).follows(t, []rule{
		{"user", "POST", "/machines/broken/?op=release", nil, "200 Ready"},
		{"user", "POST", "/machines/ready0/?op=release", nil, "200 Ready"},
		{"user", "POST", "/machines/ready0/?op=power_off", nil, "200 Ready"},
		{"user", "POST", "/machines/ready0/?op=mark_broken", nil, "403"},
		{"user2", "GET", "/machines/users0/", nil, "403"},
		{"user2", "GET", "/machines/ready0/", nil, "200 Ready"},
		{"user2", "POST", "/machines/users0/?op=release", nil, "403"},
		{"user2", "POST", "/machines/users0/?op=deploy", nil, "403"},
		{"user2", "POST", "/machines/users0/?op=set_workload_annotations", []string{"k", "v"}, "403"},
		{"admin", "POST", "/machines/users0/?op=set_workload_annotations", []string{"k", "v"}, "409 Cannot set workload annotation: it hasn't been acquired."},
		{"admin", "POST", "/machines/users0/?op=mark_broken", nil, "403"},
		{"anonymous", "GET", "/machines/users0/", nil, "401 Forbidden"},
		{"user", "POST", "/machines/users0/?op=release", nil, "200 Releasing"},
	})
}

// A user's list holds the machines of nobody and their own; an admin's all.
func TestListsShowWhatAUserMaySee(t *testing.T) {
	t.Parallel()
	w := rulesWorld(t)
	for auth, want := range map[string]int{"admin": 5, "user": 4, "user2": 2} {
		for _, target := range []string{"/machines/", "/machines/?id=ready0&id=admins&id=users0&id=locked&id=broken"} {
			if got := strings.Count(w.request(auth, "GET", target).Body.String(), `"hardware_uuid":`); got != want {
				t.Errorf("%s sees %d machines in %s, want %d", auth, got, target, want)
			}
		}
	}
}

// Nothing but unlock works on a locked machine, for admins too.
func TestLockedMachines(t *testing.T) {
	t.Parallel()
	w := rulesWorld(t)
	for _, auth := range []string{"user", "admin"} {
		for _, op := range []string{"deploy", "release", "abort", "power_on", "power_off", "set_workload_annotations", "rescue_mode", "commission", "test", "mark_broken", "mark_fixed"} {
			w.follows(t, []rule{{auth, "POST", "/machines/locked/?op=" + op, nil, "403"}})
		}
		w.follows(t, []rule{
			{auth, "PUT", "/machines/locked/", []string{"description", "x"}, "403"}, {auth, "DELETE", "/machines/locked/", nil, "403"},
			{auth, "GET", "/machines/locked/", nil, "200 Deployed"},
			{auth, "POST", "/machines/?op=release", []string{"machines", "locked"}, "403 You don't have the required permission to release the following machine(s): locked."},
		})
	}
	w.follows(t, []rule{{"user2", "POST", "/machines/locked/?op=unlock", nil, "403"}, {"user", "POST", "/machines/locked/?op=unlock", nil, "200 Deployed"}})
}

func TestBulkRelease(t *testing.T) {
	t.Parallel()
	w := rulesWorld(t)
	w.follows(t, []rule{
		{"user", "POST", "/machines/?op=release", nil, "200"},
		{"user", "POST", "/machines/?op=release", []string{"machines", "users0,broken"}, "400 Unknown machine(s): users0,broken."},
		{"user", "POST", "/machines/?op=release", []string{"machines", "zzzzzz"}, "400 Unknown machine(s): zzzzzz."},
		{"user", "POST", "/machines/?op=release", []string{"machines", "users0", "machines", "admins"}, "403 You don't have the required permission to release the following machine(s): admins."},
		{"user", "GET", "/machines/users0/", nil, "200 Deployed"},
	})
	if got := strings.Join(strings.Fields(w.request("user", "POST", "/machines/?op=release", "machines", "ready0", "machines", "users0").Body.String()), ""); got != `["users0"]` {
		t.Errorf("released %s, want the one that was not Ready", got)
	}
}

// How requests are read.
func TestRequestForms(t *testing.T) {
	t.Parallel()
	w := rulesWorld(t)
	w.follows(t, []rule{
		{"admin", "PUT", "/machines/ready0/?op=deploy", nil, "400 Unrecognised signature: method=PUT op=deploy"},
		{"admin", "GET", "/machines/ready0/?op=", nil, "200 Ready"},
		{"admin", "GET", "/users/op-whoami/", nil, "404 No User matches the given query."},
		{"admin", "GET", "/users/op-whoami", nil, "200"},
		{"admin", "GET", "//machines//ready0/", nil, "200 Ready"},
		{"admin", "GET", "/machines/ready0", nil, "404 Unknown API endpoint: /MAAS/api/2.0/machines/ready0."},
		{"admin", "GET", "/machines/?format=xml", nil, "400 Invalid output format specified 'xml'."},
		{"admin", "POST", "/machines/ready0/?op=deploy", []string{"install_kvm", "maybe"}, "400 Invalid install_kvm: Value should be 'true' or 'false'"},
		{"admin", "POST", "/machines/users0/?op=release", []string{"erase", "false"}, "200 Releasing"},
		{"admin", "GET", "/machines/?cpu_count=many", nil, `400 {"cpu_count": ["Invalid CPU count: number required."]}`},
		{"admin", "POST", "/machines/?op=allocate", []string{"zone", ""}, `400 {"zone": ["No such zone(s): ."]}`},
		{"admin", "POST", "/machines/?op=allocate", []string{"pool", ""}, `400 {"pool": ["No such pool(s): ."]}`},
		{"admin", "POST", "/machines/?op=allocate", []string{"interfaces", "x", "dry_run", "true", "tags", ""}, "200 Ready"},
		{"admin", "POST", "/ipaddresses/?op=reserve", []string{"subnet", "nowhere"}, "400 Unable to identify subnet: nowhere."},
		{"user", "GET", "/ipaddresses/?all=true", nil, "403 Listing all IP addresses requires admin privileges."},
		{"admin", "GET", "/resourcepool/p1/", nil, "200"},
		{"admin", "GET", "/domains/c1.example/", nil, "200"},
		{"admin", "DELETE", "/zones/nowhere/", nil, "204"},
	})
	for _, c := range []struct{ kind, target, body, want string }{
		{"application/xml", "/zones/", "<a/>", "400 {}"},
		{"application/json", "/machines/?op=allocate", "{}", "500 'dict' object has no attribute 'lists'"},
		{"application/json", "/zones/", "{", "400 Bad Request"},
		{"application/json", "/zones/", `{"name": "z9"}`, "200"},
		{"application/json; charset=utf-8", "/machines/ready0/?op=deploy", `{"install_kvm": "maybe"}`, "200 Deploying"},
	} {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, apiPrefix+c.target, strings.NewReader(c.body))
		req.Header.Set("Content-Type", c.kind)
		req.Header.Set("Accept", "text/html")
		w.sign(req, "admin")
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, req)
		if got := brief(rec); got != c.want {
			t.Errorf("%s to %s: %s, want %s", c.kind, c.target, got, c.want)
		}
	}
}

// MAAS takes OAuth parameters from the query, too. (The recording of it shows
// how an older library than MAAS's failed at that.)
func TestCredentialsInTheQuery(t *testing.T) {
	t.Parallel()
	w := rulesWorld(t)
	stamp := strconv.FormatInt(w.clock.Now().Unix(), 10)
	for secret, want := range map[string]int{"ADMINS": http.StatusOK, "OTHER": http.StatusUnauthorized} {
		target := apiPrefix + "/zones/?oauth_version=1.0&oauth_signature_method=PLAINTEXT&oauth_consumer_key=ADMINC&oauth_token=ADMINT&oauth_signature=%26" + secret +
			"&oauth_timestamp=" + stamp + "&oauth_nonce=q1"
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
		if rec.Code != want {
			t.Errorf("secret %s: %d, want %d: %s", secret, rec.Code, want, rec.Body)
		}
	}
}

// The nonce of a request that ended in an exception works again.
func TestNoncesArePartOfTheTransaction(t *testing.T) {
	t.Parallel()
	w := rulesWorld(t)
	for _, c := range []struct {
		target string
		form   []string
		first  int
		spent  bool
	}{
		{"GET /zones/", nil, 200, true},
		{"GET /machines/zzzzzz/", nil, 404, true},
		{"PATCH /zones/", nil, 405, true},
		{"POST /zones/", nil, 400, false},
		{"POST /machines/admins/?op=mark_fixed", nil, 409, false},
		{"DELETE /machines/locked/", nil, 403, false},
		{"POST /dnsresources/", []string{"fqdn", "x.maas", "ip_addresses", "nope"}, 500, false},
	} {
		method, target, _ := strings.Cut(c.target, " ")
		before := w.nonce
		first := w.request("admin", method, target, c.form...)
		w.nonce = before
		again := w.request("admin", "GET", "/version/")
		refused := again.Code == http.StatusUnauthorized
		if first.Code != c.first || refused != c.spent {
			t.Errorf("%s: %d, want %d; the nonce is spent: %s, want %s", c.target, first.Code, c.first, strconv.FormatBool(refused), strconv.FormatBool(c.spent))
		}
		w.nonce += 100
	}
}
