package simulator

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// spoken is an answer of MAAS's, without the IDs of its world.
type spoken struct {
	status             int
	contentType, body  string
	retryAfter, header string
}

// recordedAnswers are all answers of the recordings.
func recordedAnswers(t *testing.T) map[spoken]bool {
	t.Helper()
	out := map[spoken]bool{}
	for _, file := range []string{"testdata/maas-3.4.10.jsonl.gz", "testdata/maas-3.7.3.jsonl.gz"} {
		exchanges := readLines[exchange](t, file)
		for i := range exchanges {
			r := &exchanges[i].Response
			if r.Body == nil {
				continue
			}
			body := *r.Body
			if _, rest, found := strings.Cut(body, "any rack controller "); found && len(rest) > 6 {
				body = strings.Replace(body, rest[:6], rackID, 1)
			}
			if id, rest, found := strings.Cut(strings.TrimPrefix(body, "No machine with system ID "), " "); found && rest == "available." {
				body = strings.Replace(body, id, "abc123", 1)
			}
			out[spoken{r.Status, r.ContentType, body, r.Headers["Retry-After"], r.Headers["Vary"] + r.Headers["WWW-Authenticate"]}] = true
		}
	}
	for _, row := range readLines[matrixRow](t, "testdata/matrix-3.4.10.jsonl.gz") {
		if body, isText := row.Body.(string); isText {
			out[spoken{row.HTTP, typeText, strings.ReplaceAll(body, "<id>", "abc123"), "", "Cookie"}] = true
		}
	}
	return out
}

func TestPresetAnswersAreMAASsOwn(t *testing.T) {
	t.Parallel()
	recorded := recordedAnswers(t)
	machine := Request{SystemID: "abc123"}
	requests := map[string][]Request{
		"unavailable": {machine}, "no-rack": {machine}, "error": {machine}, "conflict-retry": {machine}, "forbidden": {machine}, "unauthorized": {machine},
		"conflict": {
			{Op: "allocate"}, {Op: "allocate", SystemID: "abc123"}, {Op: "release", Form: url.Values{"machines": {"abc123"}}},
			{Op: "set_workload_annotations", SystemID: "abc123"},
		},
	}
	for _, op := range []string{"deploy", "release", "abort", "power_on", "mark_fixed", "lock", "unlock", "exit_rescue_mode"} {
		requests["conflict"] = append(requests["conflict"], Request{Op: op, SystemID: "abc123"})
	}
	for _, name := range PresetAnswers() {
		all, ofMAAS := requests[name]
		if fault, known := PresetAnswer(name, machine); !known || fault.Proxy == ofMAAS || fault.Status == 0 {
			t.Errorf("%s: known %t, a proxy's %t, status %d", name, known, fault.Proxy, fault.Status)
		}
		for _, r := range all {
			f, _ := PresetAnswer(name, r)
			said := spoken{f.Status, f.ContentType, f.Body, f.Headers["Retry-After"], f.Headers["Vary"] + f.Headers["WWW-Authenticate"]}
			if !recorded[said] {
				t.Errorf("%s for %q: MAAS never said %s", name, r.Op, fmt.Sprintf("%+v", said))
			}
		}
	}
	if _, known := PresetAnswer("nope", machine); known {
		t.Error("there is an answer of any name")
	}
}
