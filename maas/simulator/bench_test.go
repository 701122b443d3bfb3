package simulator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// What a region costs by its size. Requests go to the handler, without network
// and client: go test -run - -bench . ./maas/simulator/

func benchSizes() []int { return []int{100, 1000, 5000} }

// benchConfig is a region of n machines of nine kinds in three zones.
func benchConfig(n int, clock Clock) Config {
	return Config{
		Clock: clock,
		Zones: []Zone{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Pools: []Pool{{Name: "empty"}},
		Subnets: []Subnet{{CIDR: "10.16.0.0/16", Gateway: "10.16.0.1"}},
		Inventory: []Group{{
			Count: n, Hostname: "node-{n:4}", Zones: []string{"a", "b", "c"}, Tags: [][]string{{"cp"}, {"worker"}, {"worker", "gpu"}},
			Cores: []int{4, 8, 16, 32}, MemoryMiB: []int{8192, 16384, 32768, 65536},
		}},
		Durations: Durations{Install: time.Minute, Boot: time.Minute, PowerOn: time.Second, PowerOff: time.Second},
	}
}

// asker sends requests to a region's handler.
type asker struct {
	b       *testing.B
	region  *Region
	clock   *VirtualClock
	handler http.Handler
	nonce   int
}

func newAsker(b *testing.B, n int) *asker {
	b.Helper()
	clock := NewVirtualClock(time.Unix(1_800_000_000, 0))
	region, err := New(benchConfig(n, clock))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(region.Close)
	return &asker{b: b, region: region, clock: clock, handler: region.Handler()}
}

// ask returns the body of an answer that has the status.
func (a *asker) ask(method, path string, form url.Values, status int) []byte {
	a.b.Helper()
	req := httptest.NewRequest(method, "/MAAS/api/2.0"+path, strings.NewReader(form.Encode()))
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	a.nonce++
	req.Header.Set("Authorization", fmt.Sprintf(
		`OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", oauth_consumer_key="simulator", oauth_token="admin", oauth_signature="%%26secret", oauth_timestamp="%d", oauth_nonce="%d"`,
		a.clock.Now().Unix(), a.nonce))
	to := &lastWritten{header: http.Header{}}
	a.handler.ServeHTTP(to, req)
	if to.status != status {
		a.b.Fatalf("%s %s: %d %.200s, want %d", method, path, to.status, to.body, status)
	}
	return to.body
}

// lastWritten is an answer whose body is not copied.
type lastWritten struct {
	header http.Header
	status int
	body   []byte
}

func (w *lastWritten) Header() http.Header { return w.header }

func (w *lastWritten) WriteHeader(status int) { w.status = status }

func (w *lastWritten) Write(body []byte) (int, error) {
	w.body = body
	return len(body), nil
}

func (a *asker) allocate(form url.Values) string {
	a.b.Helper()
	var m struct {
		SystemID string `json:"system_id"`
	}
	if err := json.Unmarshal(a.ask("POST", "/machines/op-allocate", form, 200), &m); err != nil {
		a.b.Fatal(err)
	}
	return m.SystemID
}

// perSize runs f with regions of each size.
func perSize(b *testing.B, f func(b *testing.B, a *asker)) {
	b.Helper()
	for _, n := range benchSizes() {
		b.Run(fmt.Sprintf("machines=%d", n), func(b *testing.B) {
			a := newAsker(b, n)
			b.ReportAllocs()
			b.ResetTimer()
			f(b, a)
		})
	}
}

func BenchmarkNewRegion5000(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(benchConfig(5000, nil)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddMachine(b *testing.B) {
	perSize(b, func(b *testing.B, a *asker) {
		for i := 0; b.Loop(); i++ {
			id, err := a.region.AddMachine(Machine{Hostname: fmt.Sprintf("more-%d", i)})
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			if err := a.region.OperatorDelete(id); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
}

func BenchmarkList(b *testing.B) {
	perSize(b, func(b *testing.B, a *asker) {
		for b.Loop() {
			a.ask("GET", "/machines/", nil, 200)
		}
	})
}

func BenchmarkListFiltered(b *testing.B) {
	for name, query := range map[string]string{
		"byID":     "", // filled in below
		"byAgent":  "?agent_name=nobody",
		"byStatus": "?status=ready&zone=a&tags=gpu&cpu_count=16&pool=empty",
	} {
		b.Run(name, func(b *testing.B) {
			perSize(b, func(b *testing.B, a *asker) {
				if name == "byID" {
					query = "?"
					for _, m := range a.region.Snapshot().Machines[:20] {
						query += "&id=" + m.SystemID
					}
				}
				for b.Loop() {
					a.ask("GET", "/machines/"+query, nil, 200)
				}
			})
		})
	}
}

func BenchmarkRead(b *testing.B) {
	perSize(b, func(b *testing.B, a *asker) {
		id := a.region.Snapshot().Machines[0].SystemID
		for b.Loop() {
			a.ask("GET", "/machines/"+id+"/", nil, 200)
		}
	})
}

func BenchmarkAllocate(b *testing.B) {
	perSize(b, func(b *testing.B, a *asker) {
		for b.Loop() {
			id := a.allocate(url.Values{"tags": {"gpu"}, "cpu_count": {"16"}})
			b.StopTimer()
			a.ask("POST", "/machines/"+id+"/op-release", url.Values{}, 200)
			b.StartTimer()
		}
	})
}

func BenchmarkAllocateNoneFits(b *testing.B) {
	perSize(b, func(b *testing.B, a *asker) {
		for b.Loop() {
			a.ask("POST", "/machines/op-allocate", url.Values{"pool": {"empty"}}, 409)
		}
	})
}

func BenchmarkDeployAndRelease(b *testing.B) {
	perSize(b, func(b *testing.B, a *asker) {
		for b.Loop() {
			id := a.allocate(url.Values{})
			a.ask("POST", "/machines/"+id+"/op-deploy", url.Values{"user_data": {"I2Nsb3VkLWNvbmZpZwo="}}, 200)
			a.clock.Advance(2 * time.Minute)
			a.ask("POST", "/machines/"+id+"/op-release", url.Values{}, 200)
			a.clock.Advance(time.Second)
		}
	})
}

// BenchmarkDeployWhenAllAreDeployed is a deploy that has to look for an address
// among many, and a release.
func BenchmarkDeployWhenAllAreDeployed(b *testing.B) {
	perSize(b, func(b *testing.B, a *asker) {
		deployAllOf(a)
		id := a.region.Snapshot().Machines[len(a.region.Snapshot().Machines)-1].SystemID
		b.ResetTimer()
		for b.Loop() {
			a.ask("POST", "/machines/"+id+"/op-release", url.Values{}, 200)
			a.clock.Advance(time.Second)
			a.ask("POST", "/machines/"+id+"/op-deploy", url.Values{}, 200)
			a.clock.Advance(2 * time.Minute)
		}
	})
}

func deployAllOf(a *asker) {
	a.b.Helper()
	for _, m := range a.region.Snapshot().Machines {
		a.ask("POST", "/machines/"+m.SystemID+"/op-deploy", url.Values{}, 200)
	}
	a.clock.Advance(2 * time.Minute)
}

func BenchmarkDNS(b *testing.B) {
	for name, question := range map[string]string{"machine": "node-0050.maas.", "unknown": "nobody.maas.", "reverse": ""} {
		b.Run(name, func(b *testing.B) {
			perSize(b, func(b *testing.B, a *asker) {
				deployAllOf(a)
				question, kind := question, dns.TypeA
				if name == "reverse" {
					ip := netip.MustParseAddr(a.region.Snapshot().Machines[0].Addresses[0])
					reverse, err := dns.ReverseAddr(ip.String())
					if err != nil {
						b.Fatal(err)
					}
					question, kind = reverse, dns.TypePTR
				}
				query := new(dns.Msg).SetQuestion(question, kind)
				b.ResetTimer()
				for b.Loop() {
					if reply := a.region.answerDNS(query); reply == nil || (len(reply.Answer) == 0) != (name == "unknown") {
						b.Fatalf("answered %v", reply)
					}
				}
			})
		})
	}
}

func BenchmarkEvents(b *testing.B) {
	perSize(b, func(b *testing.B, a *asker) {
		deployAllOf(a)
		events := a.region.Snapshot().Events
		query := fmt.Sprintf("/events/?op=query&after=%d", events[len(events)-1].ID)
		b.ResetTimer()
		for b.Loop() {
			a.ask("GET", query, nil, 200)
		}
	})
}

func BenchmarkSnapshot(b *testing.B) {
	perSize(b, func(b *testing.B, a *asker) {
		for b.Loop() {
			a.region.Snapshot()
		}
	})
}

// BenchmarkLives5000 says how much memory 5,000 machines take, after their start
// and after each was listed, allocated, deployed and released.
func BenchmarkLives5000(b *testing.B) {
	const n = 5000
	for b.Loop() {
		before := liveBytes()
		a := newAsker(b, n)
		b.ReportMetric(float64(liveBytes()-before)/1e6, "MB-at-start")
		for range n {
			id := a.allocate(url.Values{})
			a.ask("GET", "/machines/?id="+id, nil, 200)
			a.ask("POST", "/machines/"+id+"/op-deploy", url.Values{"user_data": {strings.Repeat("I2Nsb3VkLWNvbmZpZwo=", 500)}}, 200)
			a.ask("GET", "/machines/"+id+"/", nil, 200)
		}
		a.clock.Advance(2 * time.Minute)
		a.ask("GET", "/machines/", nil, 200)
		b.ReportMetric(float64(liveBytes()-before)/1e6, "MB-deployed")
		for _, m := range a.region.Snapshot().Machines {
			a.ask("POST", "/machines/"+m.SystemID+"/op-release", url.Values{}, 200)
		}
		a.clock.Advance(time.Minute)
		b.ReportMetric(float64(liveBytes()-before)/1e6, "MB-released")
		runtime.KeepAlive(a)
	}
}

func liveBytes() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
