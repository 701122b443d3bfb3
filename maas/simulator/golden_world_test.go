package simulator

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// goldenTime is when the recordings with OAuth headers were made.
const goldenTime = 1796037391

// exchange is one recorded request and its answer.
type exchange struct {
	Name    string
	Request struct {
		Method, Path, Auth string
		Query, Form        [][2]string
		Headers            map[string]string
		ContentType        string `json:"content_type"`
		RawBody            string `json:"raw_body"`
	}
	Response struct {
		Status       int
		ContentType  string `json:"content_type"`
		Headers      map[string]string
		Body         *string
		BodyFields   map[string]any `json:"body_fields"`
		BodyMachines []string       `json:"body_machines"`
	}
	StateBefore string `json:"state_before"`
	Note        string
	DBAfter     map[string]any `json:"db_after"`
}

func readLines[T any](t *testing.T, path string) []T {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []T
	lines := bufio.NewScanner(plain)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		out = append(out, row)
	}
	if lines.Err() != nil || len(out) == 0 {
		t.Fatalf("no recordings in %s: %v", path, lines.Err())
	}
	return out
}

// world is a region like the one that was recorded.
type world struct {
	t       *testing.T
	region  *Region
	handler http.Handler
	clock   *VirtualClock
	nonce   int
	// composes counts how often a VM host was asked for a machine.
	composes int
	// mend ends what the exchange before made fail.
	mend func()
	// deployedPower is what fixtures that are Deployed have when nothing is said.
	deployedPower string
	// replace maps what the recording calls something to what it is here.
	replace map[string]string
}

func goldenUsers() []User {
	return []User{
		{Name: "admin", APIKey: "ADMINC:ADMINT:ADMINS", Admin: true},
		{Name: "user", APIKey: "USERC:USERT:USERS"},
		{Name: "user2", APIKey: "USER2C:USER2T:USER2S"},
	}
}

func newWorld(t *testing.T, change func(*Config)) *world {
	t.Helper()
	cfg := Config{
		Clock: NewVirtualClock(time.Unix(goldenTime, 0)), Users: goldenUsers(),
		Zones:   []Zone{{Name: "z1", Description: "rack one"}, {Name: "z2"}},
		Pools:   []Pool{{Name: "p1", Description: "pool one"}},
		Tags:    []Tag{{Name: "ssd"}, {Name: "gpu"}},
		Domains: []Domain{{Name: "maas"}, {Name: "c1.example"}},
		Subnets: []Subnet{
			{Name: "net20", CIDR: "10.20.0.0/21", Gateway: "10.20.0.1", DNSServers: []string{"10.20.0.2"}, Fabric: "fab1"},
			{Name: "bmcnet", CIDR: "10.9.0.0/16", Fabric: "fab1"},
			{Name: "net30", CIDR: "10.30.0.0/28", Gateway: "10.30.0.1", Fabric: "fab2", Space: "sp1", NoDHCP: true},
		},
		Images: []Image{
			{Name: "ubuntu/focal"}, {Name: "ubuntu/jammy"}, {Name: "u-2204-0-k-1.30.4", Title: "Ubuntu 22.04 K8s 1.30.4"},
		},
		DefaultSeries: "ubuntu/jammy",
		Durations:     Durations{Install: time.Hour, Erase: time.Hour, PowerOn: 400 * time.Millisecond, Commission: time.Hour, Test: time.Hour, Boot: time.Hour},
	}
	if change != nil {
		change(&cfg)
	}
	region, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	clock, ok := cfg.Clock.(*VirtualClock)
	if !ok {
		t.Fatal("a world's time is virtual")
	}
	return &world{t: t, mend: func() {}, region: region, handler: region.behind(), clock: clock, replace: map[string]string{
		"gw3rqr": rackID, "brmf4r": rackID,
		"<ADMIN-CONSUMER>": "ADMINC", "<ADMIN-TOKEN>": "ADMINT", "<ADMIN-SECRET>": "ADMINS",
		"<USER-CONSUMER>": "USERC", "<USER-TOKEN>": "USERT", "<USER-SECRET>": "USERS",
	}}
}

// local turns a recorded text into what it is in this world.
func (w *world) local(text string) string {
	for recorded, here := range w.replace {
		text = strings.ReplaceAll(text, recorded, here)
	}
	return text
}

func (w *world) pairs(list [][2]string) string {
	var out []string
	for _, pair := range list {
		out = append(out, url.QueryEscape(pair[0])+"="+url.QueryEscape(w.local(pair[1])))
	}
	return strings.Join(out, "&")
}

// send plays a recorded request.
func (w *world) send(ex *exchange) *httptest.ResponseRecorder {
	w.t.Helper()
	target := w.local(ex.Request.Path)
	if len(ex.Request.Query) > 0 {
		target += "?" + w.pairs(ex.Request.Query)
	}
	body, contentType := w.pairs(ex.Request.Form), ""
	if body != "" {
		contentType = "application/x-www-form-urlencoded"
	}
	if ex.Request.RawBody != "" {
		body, contentType = w.local(ex.Request.RawBody), ex.Request.ContentType
	}
	req := httptest.NewRequestWithContext(w.t.Context(), ex.Request.Method, target, strings.NewReader(body))
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for key, value := range ex.Request.Headers {
		req.Header.Set(key, w.local(value))
	}
	if req.Header.Get("Authorization") == "" {
		w.sign(req, ex.Request.Auth)
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, req)
	return rec
}

func (w *world) sign(req *http.Request, auth string) {
	made := User{Name: "new", APIKey: w.replace["<NEWC>"] + ":" + w.replace["<NEWT>"] + ":" + w.replace["<NEWS>"]}
	for _, u := range append(goldenUsers(), made) {
		if u.Name != auth {
			continue
		}
		w.nonce++
		key := strings.Split(u.APIKey, ":")
		req.Header.Set("Authorization", `OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", oauth_consumer_key="`+key[0]+
			`", oauth_token="`+key[1]+`", oauth_signature="%26`+key[2]+`", oauth_timestamp="`+strconv.FormatInt(w.clock.Now().Unix(), 10)+
			`", oauth_nonce="n`+strconv.Itoa(w.nonce)+`"`)
	}
}

// fixture is what a recording says about its machine in words. Texts are empty
// where it says nothing.
type fixture struct {
	status                               Status
	owner                                string
	locked                               bool
	power, powerType                     string
	noDisk, noNIC, uncommissioned, known bool
}

// parseFixture reads state_before.
func parseFixture(words, auth string) fixture {
	f := fixture{}
	for n, names := range statusNames() {
		if strings.HasPrefix(words, names[0]) && len(names[0]) >= len(f.status.String()) || (!f.known && strings.HasPrefix(words, names[0])) {
			f.status, f.known = Status(n), true
		}
	}
	if words == "locked" || words == "not locked" {
		f.status, f.owner, f.known = StatusDeployed, "user", true
	}
	f.locked = strings.Contains(words, "locked") && !strings.Contains(words, "not locked")
	switch {
	case f.owner != "":
	case strings.Contains(words, "to user") || strings.Contains(words, "user's") || strings.Contains(words, "by user") || strings.Contains(words, "own") && !strings.Contains(words, "unowned") && auth == "user":
		f.owner = "user"
	case f.status.in(releasable()...) || f.status.in(StatusReleasing, StatusDiskErasing):
		f.owner = auth
		if auth != "user" {
			f.owner = "admin"
		}
	}
	for word, power := range map[string]string{"power on": "on", ", on": "on", "BMC on": "on", ", off": "off", "power off": "off", "power unknown": "unknown"} {
		if strings.Contains(words, word) {
			f.power = power
		}
	}
	if words == "Deployed, manual" {
		f.power = "off"
	}
	if strings.Contains(words, "manual") {
		f.powerType = "manual"
	}
	if strings.Contains(words, "no power type") {
		f.powerType = "none"
	}
	f.noDisk, f.noNIC = strings.Contains(words, "no disk"), strings.Contains(words, "no interface")
	f.uncommissioned = strings.Contains(words, "never passed")
	return f
}

// machineOfPath is the system ID in a recorded path.
func machineOfPath(path string) string {
	_, rest, ok := strings.Cut(path, "/machines/")
	if !ok {
		return ""
	}
	id, _, _ := strings.Cut(rest, "/")
	if len(id) != 6 || id == "zzzzzz" || strings.ToLower(id) != id || strings.Contains(id, "-") {
		return ""
	}
	return id
}

// prepare puts the machine of a recording into the state it was in.
func (w *world) prepare(ex *exchange) {
	w.t.Helper()
	id := machineOfPath(ex.Request.Path)
	for _, pair := range ex.Request.Form {
		if pair[0] == "system_id" && pair[1] != "zzzzzz" {
			id = pair[1]
		}
	}
	if id == "" {
		return
	}
	f := parseFixture(ex.StateBefore, ex.Request.Auth)
	if _, exists := w.region.state.machines.get(id); !exists {
		if ex.StateBefore == "" && ex.Response.Status == http.StatusNotFound {
			return
		}
		hostname := "host-" + id
		if name, ok := ex.Response.BodyFields["hostname"].(string); ok {
			hostname = name
		}
		if ex.Response.Body != nil {
			var body struct{ Hostname string }
			if json.Unmarshal([]byte(*ex.Response.Body), &body) == nil && body.Hostname != "" {
				hostname = body.Hostname
			}
		}
		m := Machine{Hostname: hostname, SystemID: id, NeverCommissioned: f.uncommissioned}
		if f.noDisk {
			m.DiskGB = -1
		}
		if f.noNIC {
			m.Subnet = "none"
		}
		if _, err := w.region.AddMachine(m); err != nil {
			w.t.Fatal(err)
		}
	}
	if f.known {
		w.force(id, f)
	}
}

// force sets a machine's state as the recording's fixture did. What the words
// do not say stays.
func (w *world) force(id string, f fixture) {
	if err := w.region.act(id, func(t *tx, m *machine) {
		edit(t, m)
		m.locked = f.locked
		if f.power != "" {
			m.powerState = f.power
		}
		if f.powerType != "" {
			m.powerType = strings.TrimSuffix(f.powerType, "none")
		}
		if m.status == f.status {
			return
		}
		m.run++
		m.status, m.owner, m.previous, m.errorDescription = f.status, f.owner, StatusReady, ""
		m.osystem, m.series, m.netboot, m.hweKernel = "", "", true, nil
		t.latestEvent[m.systemID] = nil
		if f.status.in(StatusDeployed, StatusDeploying, StatusFailedDeployment, StatusDiskErasing, StatusFailedDiskErasing) {
			m.osystem, m.series = "ubuntu", "jammy"
			m.netboot = f.status != StatusDeployed && f.status != StatusDiskErasing
			if refused := t.claimAddresses(m); refused != nil {
				w.t.Error(refused.body)
			}
		}
		switch {
		case f.power != "":
		case f.status == StatusDeployed && w.deployedPower != "":
			m.powerState = w.deployedPower
		case f.status == StatusFailedDiskErasing:
			m.powerState = "off"
		}
	}); err != nil {
		w.t.Fatal(err)
	}
}
