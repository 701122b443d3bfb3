package scenario

import (
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// deed is what one word of a fault does: to a client, in the region, and by the
// fault's own account.
type deed struct {
	fault  string // YAML
	change func(*simulator.Config)
	// before happens with the fault there and not meant.
	before func(*world)
	client func(*world) string
	sees   string
	holds  string // of node-1
	region func(*world) string
	shows  string
	says   string // of its last strike
}

const (
	mine = "aaaaaa" // node-1
	gone = "OutcomeUnknown"
)

func requestDeeds() map[Do]deed {
	allocate := func(w *world) string { return w.allocate(mine) }
	return map[Do]deed{
		DropAnswer: {
			fault: "{do: drop-answer, on: machines allocate}", client: allocate,
			sees: gone, holds: "Allocated, capi, off", says: "machines allocate of node-1: committed, answer dropped",
		},
		Fail: {
			fault: "{do: fail, on: allocate, answer: gateway-timeout, committed: true}", client: allocate,
			sees: gone + " 504", holds: "Allocated, capi, off", says: "machines allocate of node-1: committed, answered 504 (gateway-timeout)",
		},
		Hang: {
			fault: "{do: hang, on: writes}",
			client: func(w *world) string {
				_, err := w.client.Allocate(impatient(w), maas.AllocateParams{})
				return seen(err)
			},
			sees: gone, holds: "Ready, nobody, off", says: "machines allocate: not carried out, no answer",
		},
		Slow: {
			fault:  "{do: slow, on: allocate, delay: 10s}",
			before: func(w *world) { w.clock.MoveWithRequests(true) },
			client: func(w *world) string { return w.allocate(mine) + " after " + w.clock.Now().Sub(midnight()).String() },
			sees:   "ok after 10s", holds: "Allocated, capi, off", says: "machines allocate of node-1: held up for 10s",
		},
		Reset: {
			fault: "{do: reset, on: allocate, committed: true}", client: allocate,
			sees: gone, holds: "Allocated, capi, off", says: "machines allocate of node-1: committed, connection reset",
		},
		Stale: {
			fault: "{do: stale, on: machine read, age: 1m}", before: func(w *world) { w.allocate(mine) },
			client: func(w *world) string {
				first := w.read(mine)
				w.clock.Advance(time.Minute)
				return first + "; a minute later " + w.read(mine)
			},
			sees: "Ready, nobody, off; a minute later Allocated, capi, off", holds: "Allocated, capi, off", says: "machine read of node-1: answered from old data",
		},
	}
}

// deploying is a client that deploys node-1 and waits for so long.
func deploying(w *world) string {
	w.allocate(mine)
	answer := w.deploy(mine)
	w.clock.Advance(10 * time.Minute)
	return answer + ", then " + w.read(mine)
}

// releasing is a client that gives node-1 back after it deployed it.
func releasing(params maas.ReleaseParams) func(*world) string {
	return func(w *world) string {
		w.deployed(mine)
		answer := w.release(mine, params)
		w.clock.Advance(10 * time.Minute)
		return answer + ", then " + w.read(mine)
	}
}

func hardwareDeeds() map[Do]deed {
	const bmc = "Could not contact node's BMC: timed out"
	old := func(cfg *simulator.Config) { cfg.Version = "3.4.10" }
	failed := func(path string) func(*world) string {
		return func(w *world) string {
			answer, _, _ := strings.Cut(w.call("POST", "/machines/"+mine+"/op-"+path), " ")
			w.clock.Advance(time.Hour)
			return answer + ", then " + w.read(mine)
		}
	}
	return map[Do]deed{
		FailDeployment: {
			fault: "{do: fail-deployment, reason: no disk}", client: deploying, sees: "ok, then Failed deployment, capi, on",
			holds: "Failed deployment, capi, on: no disk", says: "install of node-1: fails: no disk",
		},
		StickDeployment: {
			fault: "{do: stick-deployment}", client: deploying, sees: "ok, then Deploying, capi, on",
			holds: "Deploying, capi, on", says: "install of node-1: never ends",
		},
		NoUserData: {
			fault: "{do: no-user-data}", client: deploying, sees: "ok, then Deploying, capi, on",
			holds: "Deploying, capi, on", says: "boot of node-1: never ends",
		},
		FailPowerOn: {
			fault: "{do: fail-power-on}", change: func(cfg *simulator.Config) { cfg.Version = "3.5.13" }, client: deploying,
			sees: gone + " 500: " + bmc + ", then Allocated, capi, off", holds: "Allocated, capi, off", says: "power-on of node-1: fails: " + bmc,
		},
		FailPowerOff: {
			fault: "{do: fail-power-off}", client: releasing(maas.ReleaseParams{}),
			sees: gone + " 500: " + bmc + ", then Deployed, capi, on", holds: "Deployed, capi, on", says: "power-off of node-1: fails: " + bmc,
		},
		FailPowerQuery: {
			fault: "{do: fail-power-query, reason: timeout}", client: func(w *world) string { return w.call("GET", "/machines/"+mine+"/op-query_power_state") },
			sees: "500 timeout", holds: "Ready, nobody, off", says: "power-query of node-1: fails: timeout",
		},
		FailErase: {
			fault: "{do: fail-erase}", client: releasing(maas.ReleaseParams{Erase: true}),
			sees: "ok, then Failed disk erasing, capi, on", holds: "Failed disk erasing, capi, on: Failed to erase disks.",
			says: "erase of node-1: fails: Failed to erase disks.",
		},
		FailRelease: {
			fault: "{do: fail-release}", client: releasing(maas.ReleaseParams{}),
			sees: "ok, then Releasing failed, capi, off", holds: "Releasing failed, capi, off: Failed to release the machine.",
			says: "release of node-1: fails: Failed to release the machine.",
		},
		StickRelease: {
			fault: "{do: stick-release}", client: releasing(maas.ReleaseParams{}),
			sees: "ok, then Releasing failed, capi, off", holds: "Releasing failed, capi, off: Node operation 'Releasing' timed out after 5 minutes.", says: "release of node-1: never ends",
		},
		FailCommissioning: {
			fault: "{do: fail-commissioning, delay: 1m}", client: failed("commission"), sees: "200, then Failed commissioning, capi, on",
			holds: "Failed commissioning, capi, on: Commissioning failed.", says: "commission of node-1: fails after 1m: Commissioning failed.",
		},
		FailTesting: {
			fault: "{do: fail-testing}", client: failed("test"), sees: "200, then Failed testing, capi, on",
			holds: "Failed testing, capi, on: Testing failed.", says: "test of node-1: fails: Testing failed.",
		},
		FailAddressCheck: {
			fault: "{do: fail-address-check}", client: deploying, sees: gone + " 503: IP address checks failed after 2 retries., then Allocated, capi, off",
			holds: "Allocated, capi, off", says: "address-check of node-1: fails: IP address checks failed after 2 retries.",
		},
		FailWorkflow: {
			fault: "{do: fail-workflow}", client: deploying, sees: gone + " 500: workflow engine unavailable, then Allocated, capi, off",
			holds: "Allocated, capi, off", says: "workflow of node-1: fails: workflow engine unavailable",
		},
		NoRack: {
			fault: "{do: no-rack}", client: deploying, sees: gone + " 500: Error determining BMC task queue for machine aaaaaa, then Allocated, capi, off",
			holds: "Allocated, capi, off", says: "rack of node-1: fails: no connections available",
		},
		NoImage: {
			fault: "{do: no-image}", change: old, client: deploying, sees: "Invalid 400: Deployment operating system ubuntu jammy is unavailable., then Allocated, capi, off",
			holds: "Allocated, capi, off", says: "image of node-1: fails: not on the rack",
		},
	}
}

func operatorDeeds() map[Do]deed {
	// Right before its deploy node-1 is not what its client thinks.
	deploy := func(w *world) string {
		w.allocate(mine)
		return w.deploy(mine)
	}
	deployLater := func(w *world) string {
		w.deployed(mine)
		w.clock.Advance(time.Hour)
		return w.read(mine)
	}
	hourly := "machine: node-1, after: 1h"
	plainUser := func(cfg *simulator.Config) { cfg.Users[0].Admin = false }
	return map[Do]deed{
		Take: {
			fault: "{do: take, on: machine deploy, to: mallory}", client: deploy, sees: "Forbidden 403", change: plainUser,
			holds: "Allocated, mallory, off", says: "node-1: taken by mallory, before machine deploy",
		},
		Release: {
			fault: "{do: release, on: machine deploy, committed: true}", client: func(w *world) string {
				answer := deploy(w)
				w.clock.Advance(time.Hour)
				return answer + ", then " + w.read(mine)
			},
			sees: "ok, then Ready, nobody, off", holds: "Ready, nobody, off", says: "node-1: released, after machine deploy",
		},
		Delete: {
			fault: "{do: delete, on: machine deploy}", client: deploy, sees: "NotFound 404: No Machine matches the given query.",
			holds: "none", says: "node-1: deleted, before machine deploy",
		},
		Lock: {
			fault: "{do: lock, on: allocate, machine: node-1, committed: true}", client: deploy, sees: "Forbidden 403",
			holds: "Allocated, capi, off, locked", says: "node-1: locked, after machines allocate",
		},
		Unlock: {
			fault: "{do: unlock, on: machine release}",
			client: func(w *world) string {
				w.deployed(mine)
				if err := w.region.Lock(mine, true); err != nil {
					w.t.Fatal(err)
				}
				return w.release(mine, maas.ReleaseParams{})
			},
			sees: "ok", holds: "Releasing, capi, on", says: "node-1: unlocked, before machine release",
		},
		Break: {
			fault: "{do: break, " + hourly + ", reason: smoke}", client: deployLater, sees: "Broken, capi, off",
			holds: "Broken, capi, off: smoke", says: "node-1: marked broken",
		},
		Rename: {
			fault: `{do: rename, ` + hourly + `, to: "*-old"}`, client: deployLater, sees: "Deployed, capi, on", holds: "Deployed, capi, on",
			region: func(w *world) string { return w.machine(mine).Hostname }, shows: "node-1-old", says: "node-1: renamed to node-1-old",
		},
		Rezone: {
			fault: "{do: rezone, " + hourly + ", to: rack-b}", client: deployLater, sees: "Deployed, capi, on", holds: "Deployed, capi, on",
			region: func(w *world) string { return w.machine(mine).Zone }, shows: "rack-b", says: "node-1: moved to zone rack-b",
		},
		Repool: {
			fault: "{do: repool, " + hourly + ", to: workers}", client: deployLater, sees: "Deployed, capi, on", holds: "Deployed, capi, on",
			region: func(w *world) string { return w.machine(mine).Pool }, shows: "workers", says: "node-1: moved to pool workers",
		},
		Redeploy: {
			fault: "{do: redeploy, " + hourly + ", to: operator, image: ubuntu/noble}", client: deployLater, sees: "Deployed, operator, on",
			holds: "Deployed, operator, on", region: func(w *world) string { return w.machine(mine).Image }, shows: "ubuntu/noble", says: "node-1: deployed by operator",
		},
		PowerOff: {
			fault: "{do: power-off, " + hourly + "}", client: deployLater, sees: "Deployed, capi, off", holds: "Deployed, capi, off", says: "node-1: power lost",
		},
		PowerOn: {
			fault: "{do: power-on, on: machines allocate, machine: node-1}", client: func(w *world) string { return w.allocate(mine) },
			sees: "ok", holds: "Allocated, capi, on", says: "node-1: power on, before machines allocate",
		},
	}
}

func regionDeeds() map[Do]deed {
	return map[Do]deed{
		AwayRegion: {
			fault: "{do: away, answer: bad-gateway}", client: func(w *world) string { return w.allocate(mine) },
			sees: gone + " 502", holds: "Ready, nobody, off", says: "region away",
		},
		ExhaustAddresses: {
			fault: "{do: exhaust-addresses}", client: deploying, sees: gone + " 503: No more IPs available in subnet: 10.20.0.0/21., then Allocated, capi, off",
			holds: "Allocated, capi, off", says: "no addresses left in all subnets",
		},
		OldDNS: {
			fault: "{do: old-dns}", change: func(cfg *simulator.Config) { cfg.DNSAddr = "127.0.0.1:0" },
			client: func(w *world) string {
				w.deployed(mine)
				_, err := resolver(w).LookupHost(w.t.Context(), "node-1.maas")
				if lost := (*net.DNSError)(nil); errors.As(err, &lost) && lost.IsNotFound {
					return "no such host"
				}
				return seen(err)
			},
			sees: "no such host", holds: "Deployed, capi, on",
			region: func(w *world) string {
				w.ask("DELETE", "/faults", "")
				addresses, err := resolver(w).LookupHost(w.t.Context(), "node-1.maas")
				return strings.Join(addresses, " ") + " " + seen(err)
			},
			shows: "10.20.0.3 ok", says: "DNS answers from old data",
		},
		LoseEvents: {
			fault: "{do: lose-events}", client: func(w *world) string {
				w.deployed(mine)
				page, err := w.client.Events(w.t.Context(), maas.EventFilter{SystemIDs: []string{mine}, Level: "DEBUG"})
				if err != nil || len(page.Events) > 0 {
					return seen(err) + ", some events"
				}
				return "no events"
			},
			sees: "no events", holds: "Deployed, capi, on", says: "events get lost",
		},
	}
}

// Every word has a row that shows what a client sees, what the region then
// holds, and what the fault says of itself.
func TestEveryWordDoesWhatItSays(t *testing.T) {
	t.Parallel()
	rows := map[Do]deed{}
	for _, table := range []map[Do]deed{requestDeeds(), hardwareDeeds(), operatorDeeds(), regionDeeds()} {
		for do, d := range table {
			rows[do] = d
		}
	}
	for _, word := range Words() {
		t.Run(string(word.Do), func(t *testing.T) {
			t.Parallel()
			d, ok := rows[word.Do]
			if !ok {
				t.Fatal("no row shows what it does")
			}
			d.check(t, word.Do)
		})
	}
}

func (d deed) check(t *testing.T, do Do) {
	w := play(t, "- "+d.fault, func(cfg *simulator.Config) {
		if d.change != nil {
			d.change(cfg)
		}
	})
	if d.before != nil {
		d.before(w)
	}
	if got := d.client(w); got != d.sees {
		t.Errorf("the client sees\n  %s, want\n  %s", got, d.sees)
	}
	if got := w.holds(mine); got != d.holds {
		t.Errorf("the region holds\n  %s, want\n  %s", got, d.holds)
	}
	var states []State
	status, body, _ := strings.Cut(w.ask("GET", "/faults", ""), " ")
	if err := json.Unmarshal([]byte(body), &states); err != nil || status != "200" || len(states) != 1 {
		t.Fatalf("GET /faults: %s %v\n%s", status, err, body)
	}
	state := states[0]
	if state.Fault.Do != do || state.Struck < 1 || state.Matched < state.Struck || state.Last == nil {
		t.Fatalf("the fault says %s", body)
	}
	if _, got, _ := strings.Cut(state.Last.String(), string(do)+": "); got != d.says {
		t.Errorf("the fault says\n  %s, want\n  %s", got, d.says)
	}
	if d.region != nil {
		if got := d.region(w); got != d.shows {
			t.Errorf("the region shows %s, want %s", got, d.shows)
		}
	}
}
