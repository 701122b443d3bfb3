package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// program is a client that does one thing after the other, at random, in a
// region in which much goes wrong.
type program struct {
	t       *testing.T
	chance  chance
	clock   *simulator.VirtualClock
	region  *simulator.Region
	running *Running
	server  *httptest.Server
	client  *http.Client
	served  chan any // what each request panicked with, or nil
	giveUp  context.CancelFunc
	nonce   int
	lines   strings.Builder // all that was seen
}

func newProgram(t *testing.T, seed uint64, version string) *program {
	p := &program{
		t: t, chance: newChance(seed), clock: simulator.NewVirtualClock(midnight()), served: make(chan any, 1), giveUp: func() {},
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	p.clock.MoveWithRequests(true)
	cfg := config()
	cfg.Clock, cfg.Version, cfg.Seed, cfg.Profile = p.clock, version, int64(seed), simulator.ProfileSlow
	cfg.VMHosts = []simulator.VMHost{{Name: "host-1", Cores: 16, MemoryMiB: 32768}}
	cfg.Durations = simulator.Durations{DeployTimeout: 30 * time.Minute}
	var err error
	if p.region, err = simulator.New(cfg); err != nil {
		t.Fatal(err)
	}
	if p.running, err = Start(p.region, p.clock, p.chance.scenario(), OnStrike(p.strike)); err != nil {
		t.Fatal(err)
	}
	api := p.region.Handler()
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		defer func() {
			crash := recover()
			if err, ok := crash.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				crash = nil
			}
			if crash != nil {
				crash = fmt.Sprintf("%v\n%s", crash, debug.Stack())
			}
			p.served <- crash
		}()
		api.ServeHTTP(w, req)
	}))
	return p
}

func (p *program) close() {
	p.server.Close()
	p.running.Stop()
	p.region.Close()
}

// strike gives up what will never be answered.
func (p *program) strike(s Strike) {
	fmt.Fprintln(&p.lines, s)
	if strings.Contains(s.Effect, "no answer") {
		p.giveUp()
	}
}

// send makes a request, and waits until the region has done with it.
func (p *program) send(s step) {
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	p.giveUp = cancel
	req, err := http.NewRequestWithContext(ctx, s.method, p.server.URL+"/MAAS/api/2.0"+s.path, strings.NewReader(s.form))
	if err != nil {
		p.t.Fatal(err)
	}
	p.nonce++
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", fmt.Sprintf(`OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", oauth_consumer_key="a", `+
		`oauth_token="b", oauth_signature="%%26c", oauth_timestamp="%d", oauth_nonce="%d"`, p.clock.Now().Unix(), p.nonce))
	logged := len(p.region.Requests())
	answer := "none"
	resp, err := p.client.Do(req)
	if err == nil {
		var body []byte
		body, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		answer = fmt.Sprint(resp.StatusCode, " ", string(body), err)
	}
	if crash := <-p.served; crash != nil {
		p.t.Fatalf("%s %s %s: %v", s.method, s.path, s.form, crash)
	}
	if n := len(p.region.Requests()); n != logged+1 {
		p.t.Errorf("%s %s %s is in the log %d times", s.method, s.path, s.form, n-logged)
	}
	fmt.Fprintf(&p.lines, "%s %s %s: %s\n", s.method, s.path, s.form, answer)
}

// run does so many things, and returns all that was seen and is held.
func (p *program) run(steps int) string {
	defer p.close()
	for range steps {
		if p.chance.IntN(4) == 0 {
			p.clock.Advance(time.Duration(p.chance.within(2 * time.Minute)))
		}
		p.send(p.chance.next(p.region))
	}
	for _, all := range []any{p.region.Requests(), p.region.Snapshot(), p.running.Faults()} {
		text, err := json.MarshalIndent(all, "", " ")
		if err != nil {
			p.t.Fatal(err)
		}
		p.lines.Write(text)
	}
	return p.lines.String()
}

func TestTheSameSeedGivesTheSameStory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version string
		seed    uint64
		steps   int
	}{{"3.3", 1, 200}, {"3.4", 2, 1000}, {"3.5", 3, 200}, {"3.6", 4, 200}, {"3.7", 5, 1000}} {
		t.Run(c.version, func(t *testing.T) {
			t.Parallel()
			first, again := newProgram(t, c.seed, c.version).run(c.steps), newProgram(t, c.seed, c.version).run(c.steps)
			if first == again {
				return
			}
			one, two := strings.Split(first, "\n"), strings.Split(again, "\n")
			for n := range min(len(one), len(two)) {
				if one[n] != two[n] {
					t.Fatalf("line %d of %d is\n%s\nand then\n%s", n, len(one), one[n], two[n])
				}
			}
			t.Fatalf("%d lines, and then %d", len(one), len(two))
		})
	}
}
