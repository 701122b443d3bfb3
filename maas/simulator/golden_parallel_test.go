package simulator

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// parallelAnswers is what MAAS answered to requests that it got at once, in
// any order.
type parallelAnswers struct {
	Name     string
	Request  struct{ Parallel int }
	Response struct {
		Answers []struct {
			Status      int
			ContentType string `json:"content_type"`
			Body        any
		}
	}
}

// race is a recorded contest of requests.
type race struct {
	// world prepares what the requests are about.
	world func(*world)
	// target and form are those of the n-th request.
	target func(n int) string
	form   func(n int) []string
	method string // POST when empty
	// key is what the recording kept of a body: a field, or "" for a text.
	key string
	// after checks what is left; nil for nothing.
	after func(*world)
	// sameNonce sends all requests with one nonce.
	sameNonce bool
}

func fixed(s string) func(int) string           { return func(int) string { return s } }
func formOf(pairs ...string) func(int) []string { return func(int) []string { return pairs } }

func races() map[string]race {
	return map[string]race{
		"allocate":         {world: readyMachines(4), target: fixed("/machines/?op=allocate"), form: formOf(), key: "hostname"},
		"allocate-same-id": {world: readyMachines(2), target: fixed("/machines/?op=allocate"), form: formOf("system_id", "race01"), key: "hostname"},
		"deploy-same":      {world: machinesIn(StatusAllocated, 1), target: fixed("/machines/race00/?op=deploy"), form: formOf(), key: "status_name"},
		"deploy-many": {
			world: machinesIn(StatusAllocated, 6), target: func(n int) string { return "/machines/race0" + strconv.Itoa(n) + "/?op=deploy" },
			form: formOf(), key: "status_name", after: addressesDiffer,
		},
		"release-same": {world: machinesIn(StatusDeployed, 1), target: fixed("/machines/race00/?op=release"), form: formOf(), key: "status_name"},
		"annotate-same": {
			world: machinesIn(StatusAllocated, 1), target: fixed("/machines/race00/?op=set_workload_annotations"),
			form: func(n int) []string { return []string{"k" + strconv.Itoa(n), "v"} }, key: "owner_data", after: annotationsKept,
		},
		"dns-create-same": {
			target: fixed("/dnsresources/"), form: func(n int) []string {
				return []string{"fqdn", "race.maas", "ip_addresses", "10.20.3." + strconv.Itoa(10+n)}
			},
			key: "ip_addresses", after: fourRecords,
		},
		"dns-update-same": {
			world: oneRecord, method: http.MethodPut, target: fixed("/dnsresources/1/"),
			form: func(n int) []string { return []string{"ip_addresses", "10.20.3." + strconv.Itoa(50+n)} }, key: "ip_addresses", after: lastUpdateWins,
		},
		"reserve-same":     {target: fixed("/ipaddresses/?op=reserve"), form: formOf("ip", "10.20.3.99"), key: "ip"},
		"zone-create-same": {target: fixed("/zones/"), form: formOf("name", "zr"), key: "name"},
		"nonce-same":       {method: http.MethodGet, target: fixed("/zones/"), form: formOf(), sameNonce: true},
	}
}

func TestRecordedParallelRequests(t *testing.T) {
	t.Parallel()
	all := races()
	for _, recorded := range readLines[parallelAnswers](t, "testdata/concurrent-3.4.10.jsonl.gz") {
		name := strings.TrimPrefix(recorded.Name, "concurrent.")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			race, known := all[name]
			if !known {
				t.Fatal("nothing is known about it")
			}
			w := newWorld(t, func(cfg *Config) { cfg.Version, cfg.Durations.PowerOff = "3.4.10", time.Hour })
			if race.world != nil {
				race.world(w)
			}
			got := w.run(race, recorded.Request.Parallel)
			var want []string
			for _, answer := range recorded.Response.Answers {
				want = append(want, strconv.Itoa(answer.Status)+" "+answer.ContentType+" "+recordedBody(answer.Body))
			}
			slices.Sort(want)
			if race.sameNonce {
				someAccepted(t, got)
			} else if !slices.Equal(got, want) {
				t.Errorf("answers\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if race.after != nil {
				race.after(w)
			}
		})
	}
}

// run sends n requests that all have arrived before any of them is carried
// out, and returns the answers in order of their text.
func (w *world) run(race race, n int) []string {
	var here, all sync.WaitGroup
	here.Add(n)
	w.region.SetIntercept(func(Request) Fault {
		here.Done()
		here.Wait()
		return Fault{}
	})
	answers := make([]string, n)
	for i := range n {
		req := w.prepared(race, i)
		all.Go(func() {
			rec := httptest.NewRecorder()
			w.handler.ServeHTTP(rec, req)
			answers[i] = strconv.Itoa(rec.Code) + " " + rec.Header().Get("Content-Type") + " " + race.kept(rec, i)
		})
	}
	all.Wait()
	w.region.SetIntercept(nil)
	slices.Sort(answers)
	return answers
}

func (w *world) prepared(race race, i int) *http.Request {
	path, query, _ := strings.Cut(race.target(i), "?")
	form := url.Values{}
	for pairs := race.form(i); len(pairs) > 1; pairs = pairs[2:] {
		form.Set(pairs[0], pairs[1])
	}
	method := race.method
	if method == "" {
		method = http.MethodPost
	}
	req := httptest.NewRequestWithContext(w.t.Context(), method, apiPrefix+path+"?"+query, strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if race.sameNonce {
		w.nonce = 0
	}
	w.sign(req, "admin")
	return req
}

// kept is what the recording kept of a body.
func (race race) kept(rec *httptest.ResponseRecorder, i int) string {
	var body map[string]any
	if rec.Code >= 400 || json.Unmarshal(rec.Body.Bytes(), &body) != nil {
		return recordedBody(rec.Body.String())
	}
	switch value := body[race.key].(type) {
	case map[string]any: // annotations: the request's own
		key := "k" + strconv.Itoa(i)
		return recordedBody(map[string]any{key: value[key]})
	case []any:
		ips := []any{}
		for _, row := range value {
			ips = append(ips, row.(map[string]any)["ip"])
		}
		return recordedBody(map[string]any{"ips": ips})
	case string:
		if race.key == "name" || race.key == "ip" {
			return value
		}
		if race.key == "hostname" {
			value = strings.TrimPrefix(value, "race-")
		}
		return recordedBody(map[string]any{race.key: value})
	}
	return rec.Body.String()
}

// recordedBody prints what a recording kept of a body, without what is
// arbitrary in it.
func recordedBody(body any) string {
	switch body := body.(type) {
	case string:
		if _, rest, found := strings.Cut(body, "system ID "); found {
			return strings.Replace(body, rest[:6], "<id>", 1)
		}
		return body
	case map[string]any:
		delete(body, "id")
		if name, ok := body["hostname"].(string); ok {
			body["hostname"] = name[strings.LastIndex(name, "-")+1:]
		}
	}
	out, err := json.Marshal(body)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

func readyMachines(n int) func(*world) { return machinesIn(StatusReady, n) }

func machinesIn(status Status, n int) func(*world) {
	return func(w *world) {
		for i := range n {
			id := "race0" + strconv.Itoa(i)
			w.add(Machine{Hostname: "race-" + strconv.Itoa(i), SystemID: id, PowerState: "on"})
			if status != StatusReady {
				w.force(id, fixture{status: status, owner: "admin", power: "on"})
			}
		}
	}
}

func oneRecord(w *world) {
	w.play("admin", "POST", "/dnsresources/", "", [2]string{"fqdn", "race.maas"}, [2]string{"ip_addresses", "10.20.3.9"})
}

func addressesDiffer(w *world) {
	seen := map[string]bool{}
	for i := range 6 {
		list, _ := w.machineJSON("race0" + strconv.Itoa(i))["ip_addresses"].([]any)
		for _, ip := range list {
			address, _ := ip.(string)
			if seen[address] {
				w.t.Errorf("%s was given out twice", address)
			}
			seen[address] = true
		}
	}
	if len(seen) != 6 {
		w.t.Errorf("%d addresses, want 6", len(seen))
	}
}

func annotationsKept(w *world) {
	if kept := w.region.Snapshot().Machines[0].Annotations; len(kept) != 6 {
		w.t.Errorf("annotations %v, want 6", kept)
	}
}

func fourRecords(w *world) {
	if n := len(w.region.state.resources.all()); n != 4 {
		w.t.Errorf("%d records, want 4 of one name", n)
	}
	// One that comes later is refused.
	rec := w.request("admin", "POST", "/dnsresources/", "fqdn", "race.maas")
	if rec.Code != http.StatusBadRequest {
		w.t.Errorf("a later create: %d, want 400", rec.Code)
	}
}

func lastUpdateWins(w *world) {
	res := w.region.state.resources.all()[0]
	if len(res.addrs) != 1 || !strings.HasPrefix(w.region.state.addresses.rows[res.addrs[0]].ip.String(), "10.20.3.5") {
		w.t.Errorf("the record holds %v, want one of the addresses that were sent", res.addrs)
	}
}

// someAccepted is all that MAAS promises for one nonce: 1 to all of the
// requests are accepted, and the others told why not.
func someAccepted(t *testing.T, answers []string) {
	t.Helper()
	accepted := 0
	for _, answer := range answers {
		switch {
		case strings.HasPrefix(answer, "200 "+typeJSON):
			accepted++
		case !strings.HasPrefix(answer, "401 "+typeHTML+" Authorization Error: 'Nonce already used: "):
			t.Errorf("answer %s", answer)
		}
	}
	if accepted < 1 {
		t.Errorf("none was accepted: %v", answers)
	}
}
