package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

const api = "/MAAS/api/2.0/"

func TestOperationsHaveNamesWithoutValues(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]simulator.Request{
		"GET machines/":                        {Method: "GET", Path: api + "machines/"},
		"GET machines/?agent_name&status":      {Method: "GET", Path: api + "machines/", Query: url.Values{"status": {"ready"}, "agent_name": {"claim"}}},
		"GET machines/{id}/":                   {Method: "GET", Path: api + "machines/4y3h7n/"},
		"POST machines/{id}/ deploy":           {Method: "POST", Path: api + "machines/4y3h7n/", Op: "deploy", Query: url.Values{"op": {"deploy"}}},
		"POST machines/ allocate":              {Method: "POST", Path: api + "machines/", Op: "allocate", Query: url.Values{"op": {"allocate"}}},
		"PUT dnsresources/{id}/":               {Method: "PUT", Path: api + "dnsresources/12/"},
		"GET events/ query?after&limit":        {Method: "GET", Path: api + "events/", Op: "query", Query: url.Values{"op": {"query"}, "after": {"7"}, "limit": {"100"}}},
		"GET boot-resources/":                  {Method: "GET", Path: api + "boot-resources/"},
		"GET domains/maas/":                    {Method: "GET", Path: api + "domains/maas/"},
		"POST machines/{id}/ set_owner_data":   {Method: "POST", Path: api + "machines/wdpx3n/", Op: "set_owner_data", Form: url.Values{"a": {"b"}}},
		"GET machines/{id}/ query_power_state": {Method: "GET", Path: api + "machines/wdpx3n/", Op: "query_power_state"},
	} {
		if got := nameOf(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTrafficIsCountedByOperation(t *testing.T) {
	t.Parallel()
	got := count([]simulator.Request{
		{Method: "GET", Path: api + "machines/4y3h7n/", Status: 200, Bytes: 100},
		{Method: "GET", Path: api + "machines/wdpx3n/", Status: 404, Bytes: 10},
		{Method: "GET", Path: api + "zones/", Status: 200, Bytes: 1},
	})
	one := got.Operation["GET machines/{id}/"]
	if got.Requests != 3 || got.Bytes != 111 || one.Requests != 2 || one.Bytes != 110 || one.Statuses[404] != 1 {
		t.Errorf("counted %+v", got)
	}
	if order := strings.Join(got.byRequests(), ", "); order != "GET machines/{id}/, GET zones/" {
		t.Errorf("the order is %s", order)
	}
	if text := refusals(map[int]int{200: 5, 409: 2, 0: 1}); text != "0 ×1, 409 ×2" {
		t.Errorf("refusals read %q", text)
	}
}
