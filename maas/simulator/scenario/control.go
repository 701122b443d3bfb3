package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// Control lets people and programs change, over HTTP, what goes wrong in a
// region. Bodies are YAML or JSON, answers are JSON, and errors are text with
// the status 400, 404 or 409. It asks for no credentials, so it answers only
// requests that were made to an IP address or localhost, and none of a web
// page's.
func Control(region *simulator.Region, running *Running) http.Handler {
	c := &control{region: region, running: running}
	mux := http.NewServeMux()
	for _, e := range c.endpoints() {
		mux.HandleFunc(e.pattern, func(w http.ResponseWriter, req *http.Request) { c.serve(w, req, e) })
	}
	return guarded(mux)
}

type control struct {
	region  *simulator.Region
	running *Running
}

// endpoint is one thing that can be asked for.
type endpoint struct {
	pattern string
	does    string
	// handle returns what to answer; nil for nothing.
	handle func(*http.Request) (any, error)
}

func (c *control) endpoints() []endpoint {
	return []endpoint{
		{"GET /{$}", "this list", c.help},
		{"GET /faults", "all faults, and what each did", c.listFaults},
		{"GET /faults/{name}", "one fault, and what it did", c.readFault},
		{"POST /faults", "add a fault or a list of them; their times count from now", c.addFaults},
		{"DELETE /faults", "end all faults", c.removeFaults},
		{"DELETE /faults/{name}", "end one fault", c.removeFault},
		{"GET /scenario", "what is played, as it could be put", c.readScenario},
		{"PUT /scenario", "end all faults, and play another scenario from now", c.replaceScenario},
		{"GET /snapshot", "what the region holds", c.snapshot},
		{"GET /requests", "what the region was asked, oldest first", c.requests},
		{"POST /machines", "add a machine, with the fields of the region's configuration", c.addMachine},
		{"POST /machines/{machine}/{act}", "do at once to a machine (hostname or system ID) what operators do, with ?to=, ?reason= and ?image= as in a fault", c.act},
		{"GET /clock", "the region's time", c.time},
		{"POST /clock/advance", "move the region's clock ahead, ?by=30m", c.advance},
	}
}

func actNames() string {
	var names []string
	for _, w := range operatorWords() {
		names = append(names, string(w.Do))
	}
	return strings.Join(append(names, string(FailDeployment)), ", ")
}

// statusError is an error with an HTTP status of its own.
type statusError struct {
	error
	status int
}

func (e statusError) Unwrap() error { return e.error }

func (c *control) serve(w http.ResponseWriter, req *http.Request, e endpoint) {
	const most = 1 << 20
	req.Body = http.MaxBytesReader(w, req.Body, most)
	value, err := e.handle(req)
	var special statusError
	switch {
	case errors.As(err, &special):
		http.Error(w, err.Error(), special.status)
	case errors.Is(err, ErrNoFault):
		http.Error(w, err.Error(), http.StatusNotFound)
	case errors.Is(err, ErrNameTaken), errors.Is(err, ErrStopped):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		answer(w, value)
	}
}

func answer(w http.ResponseWriter, value any) {
	switch value := value.(type) {
	case nil:
		w.WriteHeader(http.StatusNoContent)
	case string:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, value) // the client may be gone
	default:
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(value) // the client may be gone
	}
}

// guarded refuses what web pages send: they have an Origin, or a name of their
// own that leads here.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		host := req.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		_, err := netip.ParseAddr(strings.Trim(host, "[]"))
		switch {
		case req.Header.Get("Origin") != "":
			http.Error(w, "this is not for web pages", http.StatusForbidden)
		case err != nil && !strings.EqualFold(host, "localhost"):
			http.Error(w, "ask for it by its IP address or as localhost", http.StatusForbidden)
		default:
			next.ServeHTTP(w, req)
		}
	})
}

func (c *control) help(*http.Request) (any, error) {
	var text strings.Builder
	text.WriteString("What goes wrong in the simulated region. Bodies are YAML or JSON.\n\n")
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, e := range c.endpoints() {
		method, path, _ := strings.Cut(strings.TrimSuffix(e.pattern, "{$}"), " ")
		fmt.Fprintf(table, "%s\t%s\t%s\n", method, path, e.does)
	}
	fmt.Fprintf(table, "\nA fault has a \"do\", one of:\n\n")
	for _, w := range Words() {
		fmt.Fprintf(table, "%s\t%s\t%s\n", w.Do, strings.Join(w.Fields, " "), w.Effect)
	}
	if err := table.Flush(); err != nil {
		return nil, err
	}
	fmt.Fprintf(&text, "\nEvery fault may also have: %s\n\nActs of operators: %s\n", strings.Join(common(), " "), actNames())
	return text.String(), nil
}

func (c *control) listFaults(*http.Request) (any, error) { return c.running.Faults(), nil }

func (c *control) readFault(req *http.Request) (any, error) {
	for _, state := range c.running.Faults() {
		if state.Fault.Name == req.PathValue("name") {
			return state, nil
		}
	}
	return nil, fmt.Errorf("%q: %w", req.PathValue("name"), ErrNoFault)
}

// addFaults adds all faults of the body or none.
func (c *control) addFaults(req *http.Request) (any, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	faults, err := parseFaults(body)
	if err != nil {
		return nil, err
	}
	if err := (Scenario{Faults: faults}).check(); err != nil {
		return nil, err
	}
	var names []string
	for i, f := range faults {
		name, err := c.running.add(f)
		if err != nil {
			for _, name := range names {
				_ = c.running.Remove(name) // at worst somebody else was faster
			}
			return nil, wrong(i, f, err)
		}
		names = append(names, name)
	}
	return slices.DeleteFunc(c.running.Faults(), func(s State) bool { return !slices.Contains(names, s.Fault.Name) }), nil
}

func (c *control) removeFaults(*http.Request) (any, error) {
	s := c.running.Scenario()
	s.Faults = nil
	return nil, c.running.Replace(s)
}

func (c *control) removeFault(req *http.Request) (any, error) {
	return nil, c.running.Remove(req.PathValue("name"))
}

func (c *control) readScenario(*http.Request) (any, error) { return c.running.Scenario(), nil }

func (c *control) replaceScenario(req *http.Request) (any, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s, err := Parse(body)
	if err != nil {
		return nil, err
	}
	if err := c.running.Replace(s); err != nil {
		return nil, err
	}
	return c.running.Faults(), nil
}

func (c *control) time(*http.Request) (any, error) {
	return map[string]time.Time{"now": c.running.clock.Now()}, nil
}

// advance moves a clock that can be moved.
func (c *control) advance(req *http.Request) (any, error) {
	by, err := time.ParseDuration(req.FormValue("by"))
	if err != nil || by <= 0 {
		return nil, fmt.Errorf("by: %q is no duration; give one, as in /clock/advance?by=30m", req.FormValue("by"))
	}
	clock, ok := c.running.clock.(interface{ Advance(time.Duration) })
	if !ok {
		return nil, statusError{errors.New("the region's clock is that of this host, which cannot be moved; " +
			"give the region a simulator.JumpingClock or a simulator.VirtualClock"), http.StatusConflict}
	}
	before := c.running.clock.Now()
	clock.Advance(by)
	if c.running.clock.Now().Before(before.Add(by)) {
		return nil, statusError{errors.New("by: the region's clock cannot be moved that far ahead, and went as far as it can"), http.StatusConflict}
	}
	return c.time(req)
}
