package simulator

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// matrixRow is one operation in one state, recorded from MAAS 3.4.10.
type matrixRow struct {
	Op, State, Auth string
	Status          int
	Owner           *string
	Previous        string `json:"previous_status"`
	HTTP            int
	Body            any
	AtAnswer        *matrixDB `json:"db_at_answer"`
	Settled         *matrixDB `json:"db_settled"`
}

type matrixDB struct {
	Status     int
	Owner      *string
	PowerState string `json:"power_state"`
}

// matrixRequests are the operations of the matrix.
func matrixRequests() map[string]struct{ method, path, form string } {
	const machine = "/machines/mx0001/"
	return map[string]struct{ method, path, form string }{
		"read":                     {http.MethodGet, machine, ""},
		"update":                   {http.MethodPut, machine, "description=x"},
		"delete":                   {http.MethodDelete, machine, ""},
		"allocate":                 {http.MethodPost, "/machines/?op=allocate", "system_id=mx0001"},
		"deploy":                   {http.MethodPost, machine + "?op=deploy", "distro_series=jammy"},
		"release":                  {http.MethodPost, machine + "?op=release", ""},
		"release+erase":            {http.MethodPost, machine + "?op=release", "erase=true"},
		"bulk-release":             {http.MethodPost, "/machines/?op=release", "machines=mx0001"},
		"abort":                    {http.MethodPost, machine + "?op=abort", ""},
		"power_on":                 {http.MethodPost, machine + "?op=power_on", ""},
		"power_off":                {http.MethodPost, machine + "?op=power_off", ""},
		"query_power_state":        {http.MethodGet, machine + "?op=query_power_state", ""},
		"set_workload_annotations": {http.MethodPost, machine + "?op=set_workload_annotations", "k=v"},
		"mark_broken":              {http.MethodPost, machine + "?op=mark_broken", "comment=x"},
		"mark_fixed":               {http.MethodPost, machine + "?op=mark_fixed", ""},
		"lock":                     {http.MethodPost, machine + "?op=lock", ""},
		"unlock":                   {http.MethodPost, machine + "?op=unlock", ""},
		"rescue_mode":              {http.MethodPost, machine + "?op=rescue_mode", ""},
		"exit_rescue_mode":         {http.MethodPost, machine + "?op=exit_rescue_mode", ""},
		"commission":               {http.MethodPost, machine + "?op=commission", ""},
		"test":                     {http.MethodPost, machine + "?op=test", ""},
		"override_failed_testing":  {http.MethodPost, machine + "?op=override_failed_testing", ""},
		"set_storage_layout":       {http.MethodPost, machine + "?op=set_storage_layout", "storage_layout=flat"},
		"get_curtin_config":        {http.MethodGet, machine + "?op=get_curtin_config", ""},
		"link_subnet":              {http.MethodPost, "/nodes/mx0001/interfaces/1/?op=link_subnet", "mode=AUTO&subnet=2"},

		"restore_default_configuration": {http.MethodPost, machine + "?op=restore_default_configuration", ""},
	}
}

func TestEveryOperationInEveryState(t *testing.T) {
	t.Parallel()
	rows := readLines[matrixRow](t, "testdata/matrix-3.4.10.jsonl.gz")
	requests := matrixRequests()
	for i := range rows {
		row := &rows[i]
		request, modelled := requests[row.Op]
		if !modelled {
			t.Errorf("operation %s is not modelled", row.Op)
			continue
		}
		w := matrixWorld(t, row)
		rec := w.matrixSend(row, request.method, request.path, request.form)
		if problem := w.matrixCompare(row, rec); problem != "" {
			t.Errorf("%s as %s in %s, owner %v: %s", row.Op, row.Auth, row.State, row.Owner != nil, problem)
		}
	}
}

// hostname is what the machine of the recording was called, where it shows.
func (row *matrixRow) hostname() string {
	text, _ := row.Body.(string)
	if found := regexp.MustCompile(`^Machine (node-\d+) is`).FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return "mx"
}

func matrixWorld(t *testing.T, row *matrixRow) *world {
	w := newWorld(t, func(cfg *Config) {
		cfg.Version = "3.4.10"
		cfg.Durations = Durations{Install: time.Hour, Boot: time.Hour, Erase: time.Hour, Commission: time.Hour, Test: time.Hour, PowerOn: time.Millisecond, PowerOff: time.Millisecond}
		cfg.Machines = []Machine{{Hostname: row.hostname(), SystemID: "mx0001", PowerState: "on"}}
	})
	w.region.state.subnets.rows[2].vlan = w.region.state.subnets.rows[3].vlan // where the recording's was: not the machine's
	m := w.region.state.machines.rows["mx0001"]
	m.status = Status(row.Status)
	m.previous, _ = statusOfFilter(strings.ToLower(row.Previous))
	if row.Owner != nil {
		m.owner = *row.Owner
	}
	return w
}

func (w *world) matrixSend(row *matrixRow, method, path, form string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(w.t.Context(), method, apiPrefix+path, strings.NewReader(form))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w.sign(req, row.Auth)
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, req)
	return rec
}

// matrixCompare compares the answer, the row behind it and, a second later,
// what became of it.
func (w *world) matrixCompare(row *matrixRow, rec *httptest.ResponseRecorder) string {
	if rec.Code != row.HTTP {
		return "status " + http.StatusText(rec.Code) + ", want " + http.StatusText(row.HTTP) + ": " + rec.Body.String()[:min(100, rec.Body.Len())]
	}
	if problem := matrixBody(row.Body, rec.Body.Bytes()); problem != "" {
		return problem
	}
	if row.AtAnswer != nil {
		if problem := w.matrixRow(row.AtAnswer, false); problem != "" {
			return "at the answer: " + problem
		}
	}
	w.clock.Advance(time.Second)
	if row.Settled != nil {
		if problem := w.matrixRow(row.Settled, true); problem != "" {
			return "settled: " + problem
		}
	}
	return ""
}

func matrixBody(want any, body []byte) string {
	got := strings.ReplaceAll(string(body), "mx0001", "<id>")
	if text, ok := want.(string); ok {
		if strings.Contains(text, "\n") {
			got = got[:min(len(text), len(got))] // of files the recording kept the beginning
		}
		if got != text {
			return "body " + got[:min(200, len(got))] + ", want " + text
		}
		return ""
	}
	var here any
	if err := json.Unmarshal([]byte(got), &here); err != nil {
		return err.Error()
	}
	if fields, ok := want.(map[string]any); ok {
		for key, value := range fields {
			if object, ok := here.(map[string]any); !ok || !reflect.DeepEqual(object[key], value) {
				return firstDifference("."+key, value, object[key])
			}
		}
		return ""
	}
	if !reflect.DeepEqual(here, want) {
		return firstDifference("", want, here)
	}
	return ""
}

func (w *world) matrixRow(want *matrixDB, power bool) string {
	m, ok := w.region.state.machines.get("mx0001")
	if !ok {
		return ""
	}
	owner := ""
	if want.Owner != nil {
		owner = *want.Owner
	}
	switch {
	case m.status != Status(want.Status):
		return "state " + m.status.String() + ", want " + Status(want.Status).String()
	case m.owner != owner:
		return "owner " + m.owner + ", want " + owner
	case power && want.PowerState != "" && m.powerState != want.PowerState:
		return "power " + m.powerState + ", want " + want.PowerState
	}
	return ""
}
