package simulator

import (
	"fmt"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// viewReads are the reads whose answers a view must keep.
func viewReads() []string {
	return []string{
		"/machines/", "/machines/abc123/", "/machines/def456/", "/zones/", "/zones/z1/", "/resourcepools/", "/tags/", "/domains/", "/subnets/",
		"/dnsresources/?all=true", "/dnsresourcerecords/", "/boot-resources/", "/events/?op=query&level=DEBUG", "/users/", "/fabrics/",
		"/machines/?agent_name=claim", "/tags/ssd/?op=machines", "/maas/?op=get_config&name=default_dns_ttl", "/spaces/", "/ipranges/", "/vlans/",
	}
}

type viewWorld struct {
	t      *testing.T
	w      *world
	client *maas.Client
	view   *View
}

// newViewWorld is a region with something of everything.
func newViewWorld(t *testing.T) *viewWorld {
	t.Helper()
	w := newWorld(t, func(cfg *Config) {
		cfg.Machines = []Machine{
			{Hostname: "m-1", SystemID: "abc123", Zone: "z1", Pool: "p1", Tags: []string{"ssd"}},
			{Hostname: "m-2", SystemID: "def456", Subnet: "net30"},
		}
		cfg.VMHosts = []VMHost{{Name: "lxd1"}}
		cfg.Subnets[0].Reserved = []string{"10.20.7.0-10.20.7.9"}
	})
	server := httptest.NewServer(w.handler)
	t.Cleanup(server.Close)
	client, err := maas.New(maas.Config{Endpoint: server.URL + "/MAAS", APIKey: "ADMINC:ADMINT:ADMINS", Now: w.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	v := &viewWorld{t: t, w: w, client: client}
	v.do("allocate", func() error {
		_, err := client.Allocate(t.Context(), maas.AllocateParams{SystemID: "abc123", AgentName: "claim"})
		return err
	})
	v.do("deploy", func() error {
		_, err := client.Deploy(t.Context(), "abc123", maas.DeployParams{UserData: []byte("x")})
		return err
	})
	w.play("admin", "POST", "/dnsresources/", "", [2]string{"fqdn", "api.maas"}, [2]string{"ip_addresses", "10.20.0.9"})
	w.play("admin", "POST", "/dnsresourcerecords/", "", [2]string{"fqdn", "api.maas"}, [2]string{"rrtype", "TXT"}, [2]string{"rrdata", "mine"})
	w.play("admin", "POST", "/maas/", "set_config", [2]string{"name", "default_dns_ttl"}, [2]string{"value", "60"})
	w.region.SetIntercept(func(r Request) Fault { return Fault{From: v.view} })
	return v
}

func (v *viewWorld) do(what string, f func() error) {
	v.t.Helper()
	if err := f(); err != nil {
		v.t.Fatalf("%s: %v", what, err)
	}
}

// answers are what the region says to all reads.
func (v *viewWorld) answers() map[string]string {
	v.t.Helper()
	out := map[string]string{}
	for _, path := range viewReads() {
		out[path] = v.w.read(path)
	}
	return out
}

// read sends a GET as the admin.
func (w *world) read(target string) string {
	w.t.Helper()
	got := w.request("admin", "GET", target)
	return fmt.Sprint(got.Code, got.Body)
}

func TestAViewKeepsWhatTheRegionWas(t *testing.T) {
	t.Parallel()
	changes := []struct {
		name string
		do   func(*viewWorld) error
		// live is a read that must have changed in the region itself.
		live string
	}{
		{"a machine's state", func(v *viewWorld) error { return v.w.region.FailDeployment("abc123", "no disk") }, "/machines/abc123/"},
		{"a machine's release", func(v *viewWorld) error { return v.w.region.OperatorRelease("abc123") }, "/machines/abc123/"},
		{"a deleted machine", func(v *viewWorld) error { return v.w.region.OperatorDelete("abc123") }, "/machines/"},
		{"a new machine", func(v *viewWorld) error { _, err := v.w.region.AddMachine(Machine{Hostname: "m-3"}); return err }, "/machines/"},
		{"annotations", func(v *viewWorld) error {
			_, err := v.client.SetWorkloadAnnotations(v.t.Context(), "abc123", map[string]string{"k": "v"})
			return err
		}, "/machines/abc123/"},
		{"an allocation", func(v *viewWorld) error {
			_, err := v.client.Allocate(v.t.Context(), maas.AllocateParams{SystemID: "def456", AgentName: "claim"})
			return err
		}, "/machines/?agent_name=claim"},
		{"a deploy's address", func(v *viewWorld) error {
			_, err := v.client.Deploy(v.t.Context(), "def456", maas.DeployParams{})
			return err
		}, "/machines/def456/"},
		{"a renamed zone", func(v *viewWorld) error {
			v.w.play("admin", "PUT", "/zones/z1/", "", [2]string{"name", "z9"})
			return nil
		}, "/machines/abc123/"},
		{"a renamed pool", func(v *viewWorld) error {
			v.w.play("admin", "PUT", "/resourcepool/p1/", "", [2]string{"name", "p9"})
			return nil
		}, "/resourcepools/"},
		{"a tag", func(v *viewWorld) error {
			v.w.play("admin", "POST", "/tags/ssd/", "update_nodes", [2]string{"add", "def456"}, [2]string{"remove", "abc123"})
			return nil
		}, "/tags/ssd/?op=machines"},
		{"a deleted tag", func(v *viewWorld) error { v.w.play("admin", "DELETE", "/tags/ssd/", ""); return nil }, "/tags/"},
		{"the addresses of a record", func(v *viewWorld) error {
			v.w.play("admin", "PUT", "/dnsresources/"+fmt.Sprint(v.record())+"/", "", [2]string{"ip_addresses", "10.20.0.10"})
			return nil
		}, "/dnsresources/?all=true"},
		{"a deleted record", func(v *viewWorld) error {
			v.w.play("admin", "DELETE", "/dnsresources/"+fmt.Sprint(v.record())+"/", "")
			return nil
		}, "/dnsresourcerecords/"},
		{"a domain", func(v *viewWorld) error {
			v.w.play("admin", "POST", "/domains/", "", [2]string{"name", "new.example"})
			return nil
		}, "/domains/"},
		{"a setting", func(v *viewWorld) error {
			v.w.play("admin", "POST", "/maas/", "set_config", [2]string{"name", "default_dns_ttl"}, [2]string{"value", "70"})
			return nil
		}, "/maas/?op=get_config&name=default_dns_ttl"},
		{"a hostname", func(v *viewWorld) error { return v.w.region.Rename("abc123", "other") }, "/machines/"},
		{"an event", func(v *viewWorld) error { return v.w.region.LogEvent("abc123", "INFO", "Powering on", "") }, "/machines/abc123/"},
		{"an image", func(v *viewWorld) error {
			v.w.play("admin", "POST", "/boot-resources/", "", [2]string{"name", "custom/x"}, [2]string{"architecture", "amd64/generic"},
				[2]string{"filetype", "tgz"}, [2]string{"sha256", strings.Repeat("a", 64)}, [2]string{"size", "3"}, [2]string{"title", "X"})
			return nil
		}, "/boot-resources/"},
		{"a VLAN and its fabric", func(v *viewWorld) error {
			refused := v.w.region.change(func(t *tx) *refusal {
				m := t.machines.rows["abc123"]
				edit(t, m.nics[0].vlan).mtu = 9000
				edit(t, m.nics[0].vlan.fabric).name = "other"
				edit(t, m.nics[0].links[0].subnet).name = "other"
				return nil
			})
			if refused != nil {
				return fmt.Errorf("%s", refused.body)
			}
			return nil
		}, "/subnets/"},
	}
	for _, change := range changes {
		t.Run(change.name, func(t *testing.T) {
			t.Parallel()
			v := newViewWorld(t)
			before := v.answers()
			v.view = v.w.region.View()
			v.w.clock.Advance(time.Second)
			v.do("change", func() error { return change.do(v) })
			for path, want := range before {
				if got := v.w.read(path); got != want {
					t.Errorf("GET %s of the view changed:\n%s\nwas:\n%s", path, got, want)
				}
			}
			v.view = nil
			if v.w.read(change.live) == before[change.live] {
				t.Errorf("GET %s of the region is what it was", change.live)
			}
		})
	}
}

func (v *viewWorld) record() int {
	v.t.Helper()
	res, ok := v.w.region.state.resources.find(func(r *dnsResource) bool { return r.name == "api" })
	if !ok {
		v.t.Fatal("the record is gone")
	}
	return res.id
}

// A view must not reach a row that a later transaction edits, whatever tables
// and pointers the state gets.
func TestAViewReachesNoRowOfTheRegion(t *testing.T) {
	t.Parallel()
	v := newViewWorld(t)
	live, view := v.w.region.state, v.w.region.View().state
	rows := map[uintptr]string{}
	each := func(s *state, f func(name string, field reflect.Value)) {
		for i, value := 0, reflect.ValueOf(s).Elem(); i < value.NumField(); i++ {
			f(value.Type().Field(i).Name, value.Field(i))
		}
	}
	each(live, func(name string, field reflect.Value) {
		if field.Kind() != reflect.Pointer {
			return
		}
		rows[field.Pointer()] = "the table " + name
		table := field.Elem().FieldByName("rows")
		if table.Len() == 0 {
			t.Errorf("there are no %s to look at", name)
		}
		for _, key := range table.MapKeys() {
			if row := table.MapIndex(key); row.Kind() == reflect.Pointer {
				rows[row.Pointer()] = "a row of " + name
			}
		}
	})
	if len(rows) < 50 {
		t.Fatalf("found %d rows", len(rows))
	}
	seen := map[uintptr]bool{}
	each(view, func(name string, field reflect.Value) { reaches(t, name, field, rows, seen) })
}

// reaches reports the rows that a value points to, at any distance.
func reaches(t *testing.T, path string, v reflect.Value, rows map[uintptr]string, seen map[uintptr]bool) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] {
			return
		}
		seen[v.Pointer()] = true
		if what, ok := rows[v.Pointer()]; ok {
			t.Errorf("%s of the view is %s of the region", path, what)
			return
		}
		reaches(t, path, v.Elem(), rows, seen)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() || v.Type() == reflect.TypeFor[netip.Addr]() {
			return
		}
		for i := range v.NumField() {
			reaches(t, path+"."+v.Type().Field(i).Name, v.Field(i), rows, seen)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			reaches(t, path+"[]", v.Index(i), rows, seen)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			reaches(t, path+"[]", v.MapIndex(key), rows, seen)
		}
	}
}

// The maps of the state are changed in place.
func TestAViewSharesNoMapOfTheRegion(t *testing.T) {
	t.Parallel()
	v := newViewWorld(t)
	live, view := reflect.ValueOf(v.w.region.state).Elem(), reflect.ValueOf(v.w.region.View().state).Elem()
	for i := range live.NumField() {
		name := live.Type().Field(i).Name
		if a, b := live.Field(i), view.Field(i); a.Kind() == reflect.Map && a.Pointer() == b.Pointer() {
			t.Errorf("the map %s is the region's own", name)
		}
	}
}

func TestAReadOfAViewIsALiveRequest(t *testing.T) {
	t.Parallel()
	v := newViewWorld(t)
	v.view = v.w.region.View()
	v.do("delete", func() error { return v.w.region.OperatorDelete("abc123") })
	if _, err := v.client.Machine(t.Context(), "abc123"); err != nil {
		t.Errorf("the view lost its machine: %v", err)
	}
	// A write goes to the region as it is.
	if _, err := v.client.Release(t.Context(), "abc123", maas.ReleaseParams{}); maas.KindOf(err) != maas.KindNotFound {
		t.Errorf("releasing a machine that is gone: %v", err)
	}
	entries := v.w.region.Requests()
	if last := entries[len(entries)-2]; last.Fault != "stale" || !last.Committed || last.Status != 200 || last.User != "admin" {
		t.Errorf("logged %+v", last)
	}
	v.w.play("admin", "POST", "/account/", "create_authorisation_token")
	key := v.w.region.state.tokens.all()[len(v.w.region.state.tokens.all())-1]
	client := v.as(key.consumer + ":" + key.key + ":" + key.secret)
	if _, err := client.Machine(t.Context(), "abc123"); err != nil {
		t.Errorf("a key that is newer than the view: %v", err)
	}
}

func (v *viewWorld) as(key string) *maas.Client {
	v.t.Helper()
	client, err := maas.New(maas.Config{Endpoint: v.client.Endpoint(), APIKey: key, Now: v.w.clock.Now})
	if err != nil {
		v.t.Fatal(err)
	}
	return client
}

func BenchmarkViewOf5000Machines(b *testing.B) {
	cfg := Config{}
	for i := range 5000 {
		cfg.Machines = append(cfg.Machines, Machine{Hostname: fmt.Sprintf("m-%04d", i)})
	}
	region, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(region.Close)
	b.ReportAllocs()
	for b.Loop() {
		if view := region.View(); len(view.state.machines.rows) != 5000 {
			b.Fatal("machines are missing")
		}
	}
}

func TestAViewIsRenewedWhenSomethingChanged(t *testing.T) {
	t.Parallel()
	region, err := New(Config{Machines: []Machine{{Hostname: "a", SystemID: "aaaaaa"}}})
	if err != nil {
		t.Fatal(err)
	}
	other, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	view := region.View()
	if region.Renew(view) != view {
		t.Error("a view is copied though nothing changed")
	}
	if other.Renew(view) == view {
		t.Error("the view of another region is taken for one's own")
	}
	for what, change := range map[string]func() error{
		"a lock":        func() error { return region.Lock("aaaaaa", true) },
		"a new machine": func() error { _, err := region.AddMachine(Machine{Hostname: "b"}); return err },
		"an event":      func() error { return region.LogEvent("aaaaaa", "DEBUG", "Something", "") },
		"a user":        func() error { region.EnsureAdmin("somebody"); return nil },
	} {
		before := region.View()
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if region.Renew(before) == before {
			t.Errorf("%s does not show in a new view", what)
		}
	}
}
