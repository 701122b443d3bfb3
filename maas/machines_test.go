package maas

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
)

func machineJSON(id string) string { return `{"system_id":"` + id + `","status":4}` }

func TestMachineFilterBecomesTheQuery(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		filter MachineFilter
		want   url.Values
	}{
		"none": {MachineFilter{}, url.Values{}},
		"all": {MachineFilter{SystemIDs: []string{"a1", "b2"}, Hostnames: []string{"h1", "h2"}, Statuses: []Status{StatusReady, StatusFailedReleasing},
			AgentName: "claim", Zones: []string{"z1", "z2"}, Pools: []string{"p"}, Tags: []string{"x", "y"}, NotTags: []string{"n"},
			Architecture: "amd64", MinCPU: 4, MinMemoryMiB: 2048, Owner: "capi",
			Storage: "root:900(ssd),8", Interfaces: "eth0:space=a,tag=b;eth1:vid=5", Subnets: []string{"10.0.0.0/24", "space:dmz"}},
			url.Values{"id": {"a1", "b2"}, "hostname": {"h1", "h2"}, "status": {"ready", "failed_releasing"}, "agent_name": {"claim"},
				"zone": {"z1", "z2"}, "pool": {"p"}, "tags": {"x", "y"}, "not_tags": {"n"}, "arch": {"amd64"}, "cpu_count": {"4"}, "mem": {"2048"}, "owner": {"capi"},
				"storage": {"root:900(ssd),8"}, "interfaces": {"eth0:space=a,tag=b;eth1:vid=5"}, "subnets": {"10.0.0.0/24", "space:dmz"}}},
		"an empty zone does not widen": {MachineFilter{Zones: []string{""}}, url.Values{"zone": {""}}},
		"odd characters":               {MachineFilter{Hostnames: []string{"a&b=c d/é"}}, url.Values{"hostname": {"a&b=c d/é"}}},
	}
	for name, tt := range tests {
		c, s := answering(t, text(200, "application/json", "[]"))
		if _, err := c.Machines(context.Background(), tt.filter); err != nil {
			t.Fatal(err)
		}
		if r := s.only(t); r.method != "GET" || r.path != "/MAAS/api/2.0/machines/" || !reflect.DeepEqual(r.query, tt.want) {
			t.Errorf("%s: got %s %s %v, want %v", name, r.method, r.path, r.query, tt.want)
		}
	}
}

func TestManySystemIDsAreAskedForInShortRequests(t *testing.T) {
	t.Parallel()
	var longest atomic.Int64
	c, s := answering(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		longest.Store(max(longest.Load(), int64(len(r.RequestURI))))
		var all []string
		for _, id := range r.URL.Query()["id"] {
			all = append(all, machineJSON(id))
		}
		text(200, "application/json", "["+strings.Join(append(all, machineJSON("twice1")), ",")+"]").ServeHTTP(w, r)
	}))
	var ids []string
	for i := range 401 {
		ids = append(ids, fmt.Sprintf("m%05d", i))
	}
	machines, err := c.Machines(context.Background(), MachineFilter{SystemIDs: ids, AgentName: "claim"})
	if err != nil || len(machines) != 402 {
		t.Fatalf("got %d machines, %v", len(machines), err)
	}
	got := map[string]bool{}
	for _, m := range machines {
		got[m.SystemID] = true
	}
	for _, id := range append(ids, "twice1") {
		if !got[id] {
			t.Errorf("%s is missing", id)
		}
	}
	for _, r := range s.all() {
		if r.query.Get("agent_name") != "claim" || len(r.query["id"]) > maxIDsPerRequest {
			t.Errorf("a part has agent %q and %d ids", r.query.Get("agent_name"), len(r.query["id"]))
		}
	}
	if n := len(s.all()); n != 3 || longest.Load() > 4096 {
		t.Errorf("%d requests, the longest of %d bytes", n, longest.Load())
	}
}

func TestOnePartThatFailsFailsTheList(t *testing.T) {
	t.Parallel()
	c, _ := answering(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.URL.Query()["id"]) < maxIDsPerRequest {
			text(502, "text/html", "").ServeHTTP(w, r)
			return
		}
		text(200, "application/json", "["+machineJSON("a")+"]").ServeHTTP(w, r)
	}))
	if machines, err := c.Machines(context.Background(), MachineFilter{SystemIDs: make([]string, 201)}); !errors.Is(err, ErrUnavailable) || machines != nil {
		t.Errorf("got %d machines, %v", len(machines), err)
	}
}

func TestWrongArgumentsAreRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	tests := map[string]func(*Client) error{}
	for _, id := range []string{"", "a/b", "..", "a?op=release", "4y3h7n/", "a b", "é", strings.Repeat("a", 65)} {
		tests["read "+id] = func(c *Client) error { _, err := c.Machine(ctx, id); return err }
		tests["release "+id] = func(c *Client) error { _, err := c.Release(ctx, id, ReleaseParams{}); return err }
		tests["deploy "+id] = func(c *Client) error { _, err := c.Deploy(ctx, id, DeployParams{}); return err }
	}
	for _, key := range []string{"", "op", "cluster.x-k8s.io/x", "a b", "é", "a=b", strings.Repeat("k", 256)} {
		tests["annotate "+key] = func(c *Client) error {
			_, err := c.SetWorkloadAnnotations(ctx, "4y3h7n", map[string]string{"good": "1", key: "v"})
			return err
		}
	}
	for _, ip := range []string{"", "10.0.0", "10.0.0.1/24", "10.0.0.1,10.0.0.2", "10.0.0.1 10.0.0.2", "name"} {
		params := DNSResourceParams{Name: "n", Domain: "d", IPAddresses: []string{ip}}
		tests["create "+ip] = func(c *Client) error { _, err := c.CreateDNSResource(ctx, params); return err }
		tests["update "+ip] = func(c *Client) error { _, err := c.UpdateDNSResource(ctx, 7, params); return err }
	}
	tests["create without domain"] = func(c *Client) error { _, err := c.CreateDNSResource(ctx, DNSResourceParams{Name: "n"}); return err }
	tests["negative TTL"] = func(c *Client) error {
		_, err := c.UpdateDNSResource(ctx, 7, DNSResourceParams{AddressTTL: -1})
		return err
	}
	tests["record without data"] = func(c *Client) error {
		_, err := c.CreateDNSRecord(ctx, DNSRecordParams{Name: "n", Domain: "d", Type: "TXT"})
		return err
	}
	for _, tag := range []string{"", "a/b", "..", "a b", "a?op=rebuild"} {
		tests["create tag "+tag] = func(c *Client) error { _, err := c.CreateTag(ctx, tag, ""); return err }
		tests["tag "+tag] = func(c *Client) error { return c.TagMachine(ctx, tag, "4y3h7n") }
		tests["delete tag "+tag] = func(c *Client) error { return c.DeleteTag(ctx, tag) }
	}
	tests["update synthetic"] = func(c *Client) error { _, err := c.UpdateDNSResource(ctx, -1, DNSResourceParams{}); return err }
	tests["delete unset"] = func(c *Client) error { return c.DeleteDNSResource(ctx, 0) }
	tests["delete unset record"] = func(c *Client) error { return c.DeleteDNSRecord(ctx, 0) }
	tests["unknown status"] = func(c *Client) error { _, err := c.Machines(ctx, MachineFilter{Statuses: []Status{23}}); return err }
	tests["allocate"] = func(c *Client) error { _, err := c.Allocate(ctx, AllocateParams{SystemID: "a/b"}); return err }
	tests["too many IDs"] = func(c *Client) error {
		_, err := c.Events(ctx, EventFilter{SystemIDs: make([]string, 201)})
		return err
	}
	c, s := answering(t, text(200, "application/json", "{}"))
	for name, call := range tests {
		if err := call(c); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if machines, err := c.Machines(ctx, MachineFilter{SystemIDs: []string{}}); err != nil || len(machines) != 0 {
		t.Errorf("no IDs at all: got %v, %v", machines, err)
	}
	if n := len(s.all()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestWritesSendForms(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	userData := []byte("#cloud-config\nusers: [é]\x00\xff+/=")
	tests := map[string]struct {
		call         func(*Client) error
		method, path string
		op           string
		form         url.Values
	}{
		"allocate nothing": {func(c *Client) error { _, err := c.Allocate(ctx, AllocateParams{}); return err }, "POST", "machines/", "allocate", url.Values{}},
		"allocate": {func(c *Client) error {
			_, err := c.Allocate(ctx, AllocateParams{SystemID: "4y3h7n", AgentName: "claim", Comment: "c", Zone: "z", Pool: "p", Architecture: "arm64",
				Tags: []string{"a", "b"}, NotTags: []string{"n"}, NotPodTypes: []string{"lxd", "virsh"}, MinCPU: 2, MinMemoryMiB: 1024, Storage: "root:10", Interfaces: "eth0:space=x",
				Subnets: []string{"1", "space:dmz"}})
			return err
		}, "POST", "machines/", "allocate", url.Values{"system_id": {"4y3h7n"}, "agent_name": {"claim"}, "comment": {"c"}, "zone": {"z"}, "pool": {"p"}, "arch": {"arm64"},
			"tags": {"a", "b"}, "not_tags": {"n"}, "not_pod_type": {"lxd", "virsh"}, "cpu_count": {"2"}, "mem": {"1024"}, "storage": {"root:10"}, "interfaces": {"eth0:space=x"},
			"subnets": {"1", "space:dmz"}}},
		"deploy": {func(c *Client) error {
			_, err := c.Deploy(ctx, "4y3h7n", DeployParams{UserData: userData, DistroSeries: "custom/x", HWEKernel: "ga-22.04", EphemeralDeploy: true, Comment: "c"})
			return err
		}, "POST", "machines/4y3h7n/", "deploy", url.Values{"user_data": {base64.StdEncoding.EncodeToString(userData)}, "distro_series": {"custom/x"}, "hwe_kernel": {"ga-22.04"},
			"ephemeral_deploy": {"true"}, "comment": {"c"}}},
		"release": {func(c *Client) error { _, err := c.Release(ctx, "4y3h7n", ReleaseParams{}); return err }, "POST", "machines/4y3h7n/", "release", url.Values{}},
		"release quickly": {func(c *Client) error { _, err := c.Release(ctx, "4y3h7n", ReleaseParams{QuickErase: true}); return err },
			"POST", "machines/4y3h7n/", "release", url.Values{"erase": {"true"}, "quick_erase": {"true"}}},
		"release securely": {func(c *Client) error {
			_, err := c.Release(ctx, "4y3h7n", ReleaseParams{Erase: true, SecureErase: true, Comment: "c"})
			return err
		},
			"POST", "machines/4y3h7n/", "release", url.Values{"erase": {"true"}, "secure_erase": {"true"}, "comment": {"c"}}},
		"release with scripts": {func(c *Client) error {
			_, err := c.Release(ctx, "4y3h7n", ReleaseParams{Scripts: []string{"reset-bios", "drain"}})
			return err
		},
			"POST", "machines/4y3h7n/", "release", url.Values{"scripts": {"reset-bios,drain"}}},
		"abort":    {func(c *Client) error { _, err := c.Abort(ctx, "4y3h7n", "why"); return err }, "POST", "machines/4y3h7n/", "abort", url.Values{"comment": {"why"}}},
		"power on": {func(c *Client) error { _, err := c.PowerOn(ctx, "4y3h7n", "why"); return err }, "POST", "machines/4y3h7n/", "power_on", url.Values{"comment": {"why"}}},
		"annotate": {func(c *Client) error {
			_, err := c.SetWorkloadAnnotations(ctx, "4y3h7n", map[string]string{"capmaas-claim": "a b/c", "gone": ""})
			return err
		}, "POST", "machines/4y3h7n/", "set_workload_annotations", url.Values{"capmaas-claim": {"a b/c"}, "gone": {""}}},
		"create record": {func(c *Client) error {
			_, err := c.CreateDNSResource(ctx, DNSResourceParams{Name: "api", Domain: "maas", AddressTTL: 10, IPAddresses: []string{"10.0.0.1", "fd00::1"}})
			return err
		}, "POST", "dnsresources/", "", url.Values{"name": {"api"}, "domain": {"maas"}, "address_ttl": {"10"}, "ip_addresses": {"10.0.0.1 fd00::1"}}},
		"empty record": {func(c *Client) error { _, err := c.UpdateDNSResource(ctx, 7, DNSResourceParams{}); return err }, "PUT", "dnsresources/7/", "", url.Values{"ip_addresses": {""}}},
		"create tag":   {func(c *Client) error { _, err := c.CreateTag(ctx, "avoid_1", "why"); return err }, "POST", "tags/", "", url.Values{"name": {"avoid_1"}, "comment": {"why"}}},
		"tag machine":  {func(c *Client) error { return c.TagMachine(ctx, "avoid-1", "4y3h7n") }, "POST", "tags/avoid-1/", "update_nodes", url.Values{"add": {"4y3h7n"}}},
		"create TXT": {func(c *Client) error {
			_, err := c.CreateDNSRecord(ctx, DNSRecordParams{Name: "api", Domain: "maas", Type: "TXT", Data: "a=b", TTL: 5})
			return err
		}, "POST", "dnsresourcerecords/", "", url.Values{"name": {"api"}, "domain": {"maas"}, "rrtype": {"TXT"}, "rrdata": {"a=b"}, "ttl": {"5"}}},
	}
	for name, tt := range tests {
		c, s := answering(t, text(200, "application/json", `{"system_id":"4y3h7n","status":4,"id":7}`))
		if err := tt.call(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r := s.only(t)
		if r.method != tt.method || r.path != "/MAAS/api/2.0/"+tt.path || r.query.Get("op") != tt.op || r.contentType != "application/x-www-form-urlencoded" {
			t.Errorf("%s: got %s %s op=%s %s", name, r.method, r.path, r.query.Get("op"), r.contentType)
		}
		if !maps.EqualFunc(r.form, tt.form, func(a, b []string) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("%s: got the form %v, want %v", name, r.form, tt.form)
		}
	}
}

func TestDeletingAnswersNothing(t *testing.T) {
	t.Parallel()
	c, s := answering(t, recordings(t, "3.7.3")["zone.delete"])
	if err := c.DeleteDNSResource(context.Background(), 7); err != nil {
		t.Error(err)
	}
	if r := s.only(t); r.method != "DELETE" || r.path != "/MAAS/api/2.0/dnsresources/7/" || len(r.form) != 0 {
		t.Errorf("got %s %s %v", r.method, r.path, r.form)
	}
}

func TestPowerOffOfAMachineWithoutControlledPowerIsNoMachineAndNoError(t *testing.T) {
	t.Parallel()
	null := recordings(t, "3.7.3")["power_off.manual"]
	c, _ := answering(t, null)
	if m, err := c.PowerOff(context.Background(), "4y3h7n", ""); m != nil || err != nil {
		t.Errorf("power off: got %v, %v", m, err)
	}
	if _, err := c.PowerOn(context.Background(), "4y3h7n", ""); !errors.Is(err, ErrOutcomeUnknown) {
		t.Errorf("null is no answer to power on: got %v", err)
	}
}

func TestEventFilterBecomesTheQuery(t *testing.T) {
	t.Parallel()
	c, s := answering(t, text(200, "application/json", `{"events":[]}`))
	if _, err := c.Events(context.Background(), EventFilter{SystemIDs: []string{"a", "b"}, Level: "DEBUG", After: 12, Limit: 1000}); err != nil {
		t.Fatal(err)
	}
	want := url.Values{"op": {"query"}, "id": {"a", "b"}, "level": {"DEBUG"}, "after": {"12"}, "limit": {"1000"}}
	if r := s.only(t); r.path != "/MAAS/api/2.0/events/" || !reflect.DeepEqual(r.query, want) {
		t.Errorf("got %s %v, want %v", r.path, r.query, want)
	}
}

func TestStatusesAreNamedAsMAASNamesThem(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for i, s := range AllStatuses() {
		if int(s) != i || s.FilterName() == "" || names[s.String()] || names[s.FilterName()] {
			t.Errorf("status %d: %q, %q", i, s, s.FilterName())
		}
		names[s.String()], names[s.FilterName()] = true, true
	}
	if len(AllStatuses()) != 23 || StatusFailedReleasing.String() != "Releasing failed" || Status(99).String() != "Status 99" || Status(-1).FilterName() != "" {
		t.Error("the ends of the table are wrong")
	}
}

func TestVersionsCompare(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]bool{"3.3.0": true, "3.3": true, "3.4.0~rc1": true, "3.10.1": true, "4.0": true, "3.2.9": false, "2.9.2": false, "3": false, "": false, "x.y": false, "3.3~beta1": true} {
		if got := (Version{Version: v}).AtLeast(3, 3); got != want {
			t.Errorf("%q at least 3.3: got %t", v, got)
		}
	}
}
