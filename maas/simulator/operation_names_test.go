package simulator

import (
	"strings"
	"testing"
)

func TestEveryOperationIsOneOfMAAS(t *testing.T) {
	t.Parallel()
	all := map[string]bool{}
	for _, resource := range maasResources() {
		for _, o := range resource.operations() {
			if all[o.call()] {
				t.Errorf("%s is twice in MAAS's API", o.call())
			}
			all[o.call()] = true
		}
	}
	seen := map[string]bool{}
	for _, o := range Operations() {
		if !all[o.call()] {
			t.Errorf("MAAS's API (maas_api.go) has no %s %s op=%s", o.Method, o.Path, o.Op)
		}
		if seen[o.call()] {
			t.Errorf("%s is registered twice", o.call())
		}
		seen[o.call()] = true
		if strings.HasSuffix(o.Lacks, ".") || strings.Contains(o.Lacks, "\n") {
			t.Errorf("%s: %q is not a short clause without full stop", o.Name, o.Lacks)
		}
	}
}

func TestWhatIsModelledAndWhatIsNotAreAllOfMAAS(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, o := range Operations() {
		known[o.call()] = true
	}
	for _, o := range NotModelled() {
		if known[o.call()] {
			t.Errorf("%s is modelled and is not", o.Name)
		}
		known[o.call()] = true
		if o.Area() == "" {
			t.Errorf("%s belongs to no part of MAAS", o.Name)
		}
	}
	all := 0
	for _, resource := range maasResources() {
		all += len(resource.operations())
	}
	if len(known) != all || all < 300 {
		t.Errorf("%d operations are listed, and MAAS has %d", len(known), all)
	}
}

func TestOperationsAreCalledWhatMAASCallsThem(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"GET machines ":                           "machines read",
		"POST machines allocate":                  "machines allocate",
		"POST machines/{} set_owner_data":         "machine set-owner-data",
		"PUT dnsresources/{} ":                    "dnsresource update",
		"POST dnsresourcerecords ":                "dnsresource-records create",
		"GET resourcepools ":                      "resource-pools read",
		"DELETE resourcepool/{} ":                 "resource-pool delete",
		"PUT boot-resources/{}/upload/{} ":        "boot-resource-file-upload update",
		"GET subnets/{} ":                         "subnet read",
		"GET users whoami":                        "users whoami",
		"GET events query":                        "events query",
		"POST account create_authorisation_token": "account create-authorisation-token",
	}
	got := map[string]string{}
	for _, o := range Operations() {
		got[o.call()] = o.Name
	}
	for call, name := range want {
		if got[call] != name {
			t.Errorf("%s is called %q, want %q", call, got[call], name)
		}
	}
}

// Requests go by the same names, for scenarios and the log.
func TestRequestsGoByTheNamesOfOperations(t *testing.T) {
	t.Parallel()
	router := newRouter(operations())
	for _, o := range Operations() {
		segments, _, _ := split(strings.NewReplacer("{specifier...}", "10.0.0.0/24", "{", "", "}", "", "...", "").Replace(o.Path))
		res, _ := router.find(segments)
		if res == nil {
			t.Errorf("%s finds no resource", o.Path)
			continue
		}
		if found := res.operation(o.Method, o.Op); found == nil || res.command+" "+found.verb() != o.Name {
			t.Errorf("%s %s is not found as %s", o.Method, o.Path, o.Name)
		}
	}
}
