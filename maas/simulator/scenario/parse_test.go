package scenario

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

func TestParseReadsYAMLAndJSONAlike(t *testing.T) {
	t.Parallel()
	half := 0.5
	want := Scenario{Description: "bad", Seed: 7, Faults: []Fault{
		{Name: "lost", Do: DropAnswer, On: Names{"machines allocate"}, Machine: Names{"node-*", "tag:gpu & zone:a"}, User: "capi",
			After: Duration(30 * time.Second), For: Duration(time.Minute), Every: Duration(time.Hour), Skip: 1, Count: 2, Probability: &half},
		{Name: "fail", Do: Fail, On: Names{"deploy", "reads"}, Status: 418, Body: "teapot", Headers: map[string]string{"Retry-After": "1"}, Committed: true},
	}}
	for name, text := range map[string]string{
		"yaml": `
description: bad
seed: 7
faults:
- name: lost
  do: drop-answer
  on: machines allocate
  machine: ["node-*", tag:gpu & zone:a]
  user: capi
  after: 30s
  for: 1m
  every: 1h
  skip: 1
  count: 2
  probability: 0.5
- {do: fail, on: [deploy, reads], status: 418, body: teapot, headers: {Retry-After: "1"}, committed: true}
`,
		"json": `{"description": "bad", "seed": 7, "faults": [
			{"name": "lost", "do": "drop-answer", "on": "machines allocate", "machine": ["node-*", "tag:gpu & zone:a"], "user": "capi",
			 "after": "30s", "for": "1m", "every": "1h", "skip": 1, "count": 2, "probability": 0.5},
			{"do": "fail", "on": ["deploy", "reads"], "status": 418, "body": "teapot", "headers": {"Retry-After": "1"}, "committed": true}]}`,
	} {
		got, err := Parse([]byte(text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if got, err = Parse(again); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s, written and read again: %+v, %v", name, got, err)
		}
		if again, err = yaml.Marshal(want); err != nil {
			t.Fatal(err)
		}
		if got, err = Parse(again); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s, written as YAML and read again: %+v, %v", name, got, err)
		}
	}
}

func TestParseSaysWhatIsWrongAndWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                  "is not a set of fields such as description, faults, seed",
		`fault: []`:           `fault: no such field (did you mean "faults"?`,
		`seed: x`:             `seed: "x" is not a whole number`,
		`faults: 3`:           "faults: 3 is not a list",
		"a: 1\na: 2":          "already set",
		"faults: [":           "yaml",
		`faults: [x]`:         `faults[0]: "x" is not a set of fields`,
		`faults: [{name: x}]`: `faults[0] "x": do: says what goes wrong and is missing; there are requests: drop-answer, fail,`,
		`faults: [{do: hang, on: "*"}, {do: hang, on: "*"}, {name: x, do: drop-anser}]`: `faults[2] "x": do "drop-anser": no such fault (did you mean "drop-answer"?); there are`,
		`faults: [{name: x, nam: y, do: hang}]`:                                         `faults[0] "x": nam: no such field (did you mean "name"?)`,
		`faults: [{name: x, do: hang, on: machines alocate}]`:                           `faults[0] "x": on "machines alocate": no such operation (did you mean "machines allocate"?)`,
		`faults: [{name: x, do: hang, on: vm-cluster read}]`:                            `faults[0] "x": on "vm-cluster read": the simulator does not model this operation`,
		`faults: [{name: x, do: hang, on: [deploy, relase]}]`:                           `on "relase": no such operation (did you mean "release"?)`,
		`faults: [{name: x, do: hang}]`:                                                 `faults[0] "x": on: says which requests it strikes and is missing`,
		`faults: [{name: x, do: hang, on: []}]`:                                         `on: the list is empty`,
		`faults: [{name: x, do: hang, on: "[a"}]`:                                       `on "[a": is no pattern`,
		`faults: [{name: x, do: hang, on: deploy, machine: 123456}]`:                    "machine: 123456 is neither a text nor a list of texts; a text that YAML takes for a number or a truth has to stand in quotes",
		`faults: [{name: x, do: hang, on: deploy, machine: }]`:                          "machine: has no value",
		`faults: [{name: x, do: hang, on: deploy, machine: "host:a"}]`:                  `machine "host:a": "host:" is nothing that a machine is known by; there are tag:, zone:, pool:, status:, owner:`,
		`faults: [{name: x, do: hang, on: deploy, machine: "status:deploied"}]`:         `did you mean "deployed"?`,
		`faults: [{name: x, do: hang, on: deploy, machine: "tag:"}]`:                    "names nothing",
		`faults: [{name: x, do: slow, on: deploy}]`:                                     "delay: slow needs it",
		`faults: [{name: x, do: slow, on: deploy, delay: 0s}]`:                          "delay: 0s is no time",
		`faults: [{name: x, do: slow, on: deploy, delay: 10}]`:                          `delay: 10 is no duration such as "90s"`,
		`faults: [{name: x, do: slow, on: deploy, delay: -1s}]`:                         `delay: "-1s" is no duration`,
		`faults: [{name: x, do: stale, age: 1m, on: deploy}]`:                           "only reads can be stale",
		`faults: [{name: x, do: rename, machine: a}]`:                                   "to: rename needs it",
		`faults: [{name: x, do: rename, machine: a, to: a.b}]`:                          `to "a.b": is no hostname`,
		`faults: [{name: x, do: take}]`:                                                 "machine: says whose turn it is to take and is missing",
		`faults: [{name: x, do: take, machine: a, user: capi}]`:                         "user: is about requests, and on names none",
		`faults: [{name: x, do: take, machine: a, committed: true}]`:                    "committed: is about requests, and on names none",
		`faults: [{name: x, do: take, machine: a, for: 1m}]`:                            "for: an act that no request brings about happens once",
		`faults: [{name: x, do: fail-erase, answer: error}]`:                            "answer: fail-erase does not take it; beside name, do, after, for, every, skip, count, probability it takes machine, reason, delay",
		`faults: [{name: x, do: fail-erase, on: release}]`:                              "on: fail-erase does not take it",
		`faults: [{name: x, do: fail-erase, machine: "owner:capi"}]`:                    "hardware knows neither status nor owner",
		`faults: [{name: x, do: stick-release, reason: why}]`:                           "reason: stick-release does not take it",
		`faults: [{name: x, do: away, on: "*"}]`:                                        "on: away does not take it",
		`faults: [{name: x, do: away, answer: error}]`:                                  `answer "error": no such answer; there are bad-gateway`,
		`faults: [{name: x, do: lose-events, machine: a}]`:                              "machine: lose-events does not take it; beside name, do, after, for, every, skip, count, probability it takes nothing",
		`faults: [{name: x, do: drop-answer, on: deploy, committed: false}]`:            "committed: drop-answer does not take it",
		`faults: [{name: x, do: drop-answer, on: deploy, every: 1m}]`:                   "every: needs for",
		`faults: [{name: x, do: away, every: 1m, for: 1m}]`:                             "for: 1m is not shorter than every, 1m",
		`faults: [{name: x, do: fail, on: deploy, answer: bad-getaway}]`:                `answer "bad-getaway": no such answer (did you mean "bad-gateway"?)`,
		`faults: [{name: x, do: fail, on: deploy, answer: error, status: 500}]`:         "status: answer gives one already",
		`faults: [{name: x, do: fail, on: deploy, status: 42}]`:                         "status: 42 is no HTTP status",
		`faults: [{name: x, do: fail, on: deploy, status: true}]`:                       "status: true is not a whole number",
		`faults: [{name: x, do: fail, on: deploy, headers: {"a b": c}}]`:                `headers: "a b" is no name of a header`,
		`faults: [{name: x, do: fail, on: deploy, count: 1.5}]`:                         "count: 1.5 is not a whole number",
		`faults: [{name: x, do: fail, on: deploy, count: -1}]`:                          "count: -1 is negative",
		`faults: [{name: x, do: fail, on: deploy, skip: -1}]`:                           "skip: -1 is negative",
		`faults: [{name: x, do: fail, on: deploy, probability: 30}]`:                    "probability: 30 is not between 0 and 1",
		`faults: [{name: x y, do: fail, on: deploy}]`:                                   "name: must have no spaces and slashes",
		`faults: [{name: "..", do: fail, on: deploy}]`:                                  `name: ".." is none in a URL`,
		`faults: [{name: "a?b", do: fail, on: deploy}]`:                                 "name: must have no spaces and slashes",
		`faults: [{name: "\e[31m", do: fail, on: deploy}]`:                              "name: must have no spaces and slashes",
		`faults: [{name: x, do: take, machine: a, every: 1ns}]`:                         "every, age: 1ns is shorter than 100ms",
		`faults: [{name: x, do: stale, age: 99ms}]`:                                     "every, age: 99ms is shorter than 100ms",
		`faults: [{name: x, do: slow, on: deploy, delay: 87601h}]`:                      "87601h is more than ten years",
		"faults: []\n---\nfaults: []":                                                   "there is more than one YAML document",
		"--- {}\n--- {}":                                                                "there is more than one YAML document",
		"faults: []\n...\nfaults: []":                                                   "there is more than one YAML document",
		`faults: [{name: x, do: fail, on: deploy}, {name: x, do: fail, on: deploy}]`:    `faults[1] "x": name: faults[0] is called the same`,
	} {
		_, err := Parse([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\n  says %v\n  want one line with %q", text, err, want)
		}
	}
}

func TestOperationsAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	for on, want := range map[string][]string{
		"machines allocate":        {"machines allocate"},
		"allocate":                 {"machines allocate"},
		"machine* release":         {"machine release", "machines release"},
		"release":                  {"machine release", "machines release", "ipaddresses release"},
		"lock":                     {"machine lock"},
		"set_workload_annotations": {"machine set-workload-annotations"},
		"Mark_Broken":              {"machine mark-broken"},
		"zone* delete":             {"zone delete"},
	} {
		set, err := operationsOf(Names{on})
		if err != nil || set.reads || set.writes || len(set.names) != len(want) {
			t.Errorf("%s: %v, %v", on, set, err)
		}
		for _, name := range want {
			if _, ok := set.names[name]; !ok {
				t.Errorf("%s does not find %s", on, name)
			}
		}
	}
}

func TestWordsAreExplained(t *testing.T) {
	t.Parallel()
	var f Fault
	seen := map[Do]bool{}
	for _, w := range Words() {
		if seen[w.Do] || w.Effect == "" || strings.HasSuffix(w.Effect, ".") {
			t.Errorf("%s: twice, or with the effect %q", w.Do, w.Effect)
		}
		seen[w.Do] = true
		for _, name := range w.Fields {
			if f.fields()[name] == nil {
				t.Errorf("%s takes %s, which is no field", w.Do, name)
			}
		}
		if w.Group == OnHardware && (w.moment == "" || w.stuck == (w.reason != "")) {
			t.Errorf("%s: moment %q, stuck %t, reason %q", w.Do, w.moment, w.stuck, w.reason)
		}
	}
}

func TestDurationsReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		30 * time.Second: "30s", 5 * time.Minute: "5m", 2 * time.Hour: "2h", 90 * time.Second: "1m30s", 90 * time.Minute: "1h30m",
		time.Hour + time.Second: "1h0m1s", 0: "0s", 300 * time.Millisecond: "300ms",
	} {
		if got := Duration(d).String(); got != want {
			t.Errorf("%v is written %s, want %s", d, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../../../docs/scenarios/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add([]byte(`{"faults": [{"do": "fail", "on": ["deploy"], "machine": "tag:a&b", "headers": {"a": "b"}, "for": "1s", "every": "2s"}]}`))
	f.Add([]byte("faults:\n- {true: x, on: y, do: slow}\n- null\n- []"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		// What was accepted can be written, and read again as the same.
		written, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(written); err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("%q was read as %s, and that as %+v, %v", text, written, again, err)
		}
	})
}
