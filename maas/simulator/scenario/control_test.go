package scenario

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestControlChangesWhatGoesWrong(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: first, do: fail, on: zones read}")
	faults := func() string {
		var states []State
		_, body, _ := strings.Cut(w.ask("GET", "/faults", ""), " ")
		if err := json.Unmarshal([]byte(body), &states); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		var names []string
		for _, s := range states {
			names = append(names, s.Fault.Name)
		}
		return strings.Join(names, " ")
	}
	for _, step := range []struct{ method, path, body, status, says, names string }{
		{"POST", "/faults", "name: second\ndo: hang\non: deploy", "200", `"struck": 0`, "first second"},
		{"POST", "/faults", `[{"do": "away", "after": "1h"}, {"do": "away", "after": "1h"}]`, "200", `"away-2"`, "first second away away-2"},
		{"POST", "/faults", "[{do: reset, on: deploy}, {name: second, do: hang, on: deploy}]", "409", "there is a fault of that name already", "first second away away-2"},
		{"POST", "/faults", "do: hank", "400", `faults[0]: do "hank": no such fault (did you mean "hang"?)`, "first second away away-2"},
		{"POST", "/faults", "[{do: hang, on: deploy}, {do: slow, on: deploy}]", "400", "faults[1]: delay: slow needs it", "first second away away-2"},
		{"GET", "/faults/second", "", "200", `"on": "deploy"`, "first second away away-2"},
		{"GET", "/faults/third", "", "404", `"third": there is no fault of that name`, "first second away away-2"},
		{"DELETE", "/faults/first", "", "204", "", "second away away-2"},
		{"DELETE", "/faults/first", "", "404", "there is no fault of that name", "second away away-2"},
		{"PUT", "/scenario", "description: new\nfaults: [{do: reset, on: reads}]", "200", `"reset"`, "reset"},
		{"PUT", "/scenario", "faults: [{do: reset}]", "400", "faults[0]: on: says which requests", "reset"},
		{"GET", "/scenario", "", "200", `"description": "new"`, "reset"},
		{"DELETE", "/faults", "", "204", "", ""},
		{"GET", "/scenario", "", "200", `"description": "new"`, ""},
		{"GET", "/nothing", "", "404", "", ""},
		{"PATCH", "/faults", "", "405", "", ""},
	} {
		status, body, _ := strings.Cut(w.ask(step.method, step.path, step.body), " ")
		if status != step.status || !strings.Contains(body, step.says) {
			t.Errorf("%s %s: %s %s, want %s %s", step.method, step.path, status, body, step.status, step.says)
		}
		if got := faults(); got != step.names {
			t.Errorf("after %s %s there are %q, want %q", step.method, step.path, got, step.names)
		}
	}
}

func TestControlShowsWhatAFaultDid(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: lost, do: drop-answer, on: allocate, skip: 1, count: 1}")
	w.allocate("aaaaaa")
	w.allocate("bbbbbb")
	w.allocate("cccccc")
	want := `200 {
  "fault": {
    "name": "lost",
    "do": "drop-answer",
    "on": "allocate",
    "skip": 1,
    "count": 1
  },
  "active": false,
  "matched": 3,
  "struck": 1,
  "last": {
    "time": "2026-11-30T00:00:00Z",
    "fault": "lost",
    "operation": "machines allocate",
    "systemID": "bbbbbb",
    "hostname": "node-2",
    "effect": "committed, answer dropped"
  }
}`
	if got := w.ask("GET", "/faults/lost", ""); got != want {
		t.Errorf("it shows\n%s\nwant\n%s", got, want)
	}
}

func TestControlDoesWhatOperatorsDo(t *testing.T) {
	t.Parallel()
	w := play(t, "- {do: away, after: 1h}")
	for _, step := range []struct{ path, body, status, says, holds string }{
		{"/machines/node-1/lock", "", "200", `"locked": true`, "Ready, nobody, off, locked"},
		{"/machines/aaaaaa/unlock", "", "200", `"systemID": "aaaaaa"`, "Ready, nobody, off"},
		{"/machines/node-1/take?to=capi", "", "200", `"owner": "capi"`, "Allocated, capi, off"},
		{"/machines/node-1/fail-deployment", "", "409", "machine node-1 is Allocated, and not being deployed", "Allocated, capi, off"},
		{"/machines/node-1/redeploy?to=capi", "", "200", `"statusName": "Deploying"`, "Deploying, capi, on"},
		{"/machines/node-1/fail-deployment?reason=smoke", "", "200", `"error": "smoke"`, "Failed deployment, capi, on: smoke"},
		{"/machines/node-1/rename", "", "400", "to: rename needs it", "Failed deployment, capi, on: smoke"},
		{"/machines/node-1/rezone?to=nowhere", "", "400", "nowhere", "Failed deployment, capi, on: smoke"},
		{"/machines/node-1/lock?for=1m", "", "400", "for: no such parameter", "Failed deployment, capi, on: smoke"},
		{"/machines/node-1/burn", "", "404", `"burn" is nothing that operators do; there are take, release,`, "Failed deployment, capi, on: smoke"},
		{"/machines/node-1/hang", "", "404", `"hang" is nothing that operators do`, "Failed deployment, capi, on: smoke"},
		{"/machines/node-9/lock", "", "404", `no machine with the hostname or system ID "node-9"`, "Failed deployment, capi, on: smoke"},
		{"/machines/node-1/delete", "", "204", "", "none"},
		{"/machines", "hostname: node-9\nsystemID: aaaaaa\ntags: [x]", "200", `"hostname": "node-9"`, "Ready, nobody, off"},
		{"/machines", "hostnam: node-9", "400", `unknown field "hostnam"`, "Ready, nobody, off"},
		{"/machines", "hostname: node-9", "400", `machine "node-9"`, "Ready, nobody, off"},
	} {
		status, body, _ := strings.Cut(w.ask("POST", step.path, step.body), " ")
		if status != step.status || !strings.Contains(body, step.says) {
			t.Errorf("%s: %s %s, want %s %s", step.path, status, body, step.status, step.says)
		}
		if got := w.holds(mine); got != step.holds {
			t.Errorf("after %s the region holds %s, want %s", step.path, got, step.holds)
		}
	}
}

func TestControlShowsTheRegionAndMovesItsClock(t *testing.T) {
	t.Parallel()
	w := play(t, "- {name: away, do: away, after: 20m, for: 10m}")
	w.zones(1)
	var snapshot simulator.Snapshot
	if _, body, _ := strings.Cut(w.ask("GET", "/snapshot", ""), " "); json.Unmarshal([]byte(body), &snapshot) != nil || len(snapshot.Machines) != 3 {
		t.Errorf("snapshot: %s", body)
	}
	var requests []simulator.Request
	if _, body, _ := strings.Cut(w.ask("GET", "/requests", ""), " "); json.Unmarshal([]byte(body), &requests) != nil || len(requests) != 1 || requests[0].Operation != "zones read" {
		t.Errorf("requests: %s", body)
	}
	if got := w.ask("POST", "/clock/advance?by=25m", ""); !strings.Contains(got, "2026-11-30T00:25:00Z") || w.zones(1) != "x" {
		t.Errorf("25 minutes later: %s", got)
	}
	if got := w.ask("GET", "/clock", ""); !strings.Contains(got, "2026-11-30T00:25:00Z") {
		t.Error(got)
	}
	for _, by := range []string{"", "soon", "-1m", "0s"} {
		if got := w.ask("POST", "/clock/advance?by="+by, ""); !strings.HasPrefix(got, "400 by: ") {
			t.Errorf("by %q: %s", by, got)
		}
	}
	if want := []string{"00:20:00 away: region away for 10m"}; !slices.Equal(w.lines, want) {
		t.Errorf("told %q", w.lines)
	}
}

// hostClock is a clock that cannot be moved.
type hostClock struct{}

func (hostClock) Now() time.Time { return time.Now() }
func (hostClock) AfterFunc(d time.Duration, f func()) func() {
	return func() { time.AfterFunc(d, f).Stop() }
}

func TestControlSaysWhichClockCannotBeMoved(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		clock simulator.Clock
		want  int
	}{
		"the host's": {hostClock{}, http.StatusConflict},
		"jumping":    {simulator.NewJumpingClock(), http.StatusOK},
	} {
		region, err := simulator.New(simulator.Config{Clock: tt.clock})
		if err != nil {
			t.Fatal(err)
		}
		running, err := Start(region, tt.clock, Scenario{})
		if err != nil {
			t.Fatal(err)
		}
		answer := httptest.NewRecorder()
		Control(region, running).ServeHTTP(answer, httptest.NewRequest("POST", "http://localhost:1/clock/advance?by=30m", nil))
		if answer.Code != tt.want {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
		running.Stop()
		region.Close()
	}
}

func TestControlIsNotForWebPages(t *testing.T) {
	t.Parallel()
	w := play(t, "- {do: away, after: 1h}")
	for _, tt := range []struct {
		host, origin string
		want         int
	}{
		{"127.0.0.1:5241", "", 200}, {"localhost:5241", "", 200}, {"localhost", "", 200}, {"[::1]:5241", "", 200}, {"10.0.0.7", "", 200},
		{"evil.example:5241", "", 403}, {"localhost.evil.example", "", 403}, {"", "", 403}, {"127.0.0.1:5241", "http://evil.example", 403}, {"127.0.0.1:5241", "null", 403},
	} {
		req := httptest.NewRequest("GET", "http://x/faults", nil)
		req.Host = tt.host
		if tt.origin != "" {
			req.Header.Set("Origin", tt.origin)
		}
		answer := httptest.NewRecorder()
		w.control.Config.Handler.ServeHTTP(answer, req)
		if answer.Code != tt.want {
			t.Errorf("host %q, origin %q: %d, want %d", tt.host, tt.origin, answer.Code, tt.want)
		}
	}
}

func TestControlTellsAPersonWhatThereIs(t *testing.T) {
	t.Parallel()
	w := play(t, "- {do: away, after: 1h}")
	got := w.ask("GET", "/", "")
	for _, want := range []string{"GET     /faults  ", "POST    /clock/advance  ", "rename  ", "Every fault may also have: name do after for"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, word := range Words() {
		if !strings.Contains(got, "\n"+string(word.Do)+" ") {
			t.Errorf("%s is not in the list", word.Do)
		}
	}
	if big := w.ask("POST", "/faults", strings.Repeat(" ", 2<<20)); !strings.HasPrefix(big, "400 ") {
		t.Errorf("a body of 2 MiB: %.100s", big)
	}
}
