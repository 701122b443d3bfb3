package chaos

import (
	"net/http"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// weather is how well everything works at a time.
type weather struct {
	name string
	// Of how many in a hundred requests to MAAS, writes to Kubernetes and moments of hardware something goes wrong.
	requests, kubernetes, hardware float64
	// meanwhile is how often, in a hundred calls, somebody else does something just then.
	meanwhile float64
	// away says that MAAS cannot be reached, and cut that workload clusters cannot.
	away, cut bool
	// losesEvents says that MAAS's event log loses what is written.
	losesEvents bool
}

const away = "away"

// turns draws the weather of the next minutes.
func (w *world) turns() {
	if w.calm {
		return
	}
	lasts := w.dice.between(time.Minute, 8*time.Minute)
	switch n := w.dice.IntN(100); {
	case n < 35:
		w.weather = weather{name: "fair", meanwhile: 1, hardware: 3}
	case n < 65:
		w.weather = weather{name: "unsettled", requests: 4, kubernetes: 2, hardware: 6, meanwhile: 2}
	case n < 85:
		w.weather = weather{name: "stormy", requests: 20, kubernetes: 6, hardware: 12, meanwhile: 5}
	default:
		w.weather = weather{name: "MAAS is away", away: true, kubernetes: 2, hardware: 6, meanwhile: 1}
		lasts = w.dice.between(30*time.Second, 5*time.Minute)
	}
	w.weather.cut = w.dice.chance(10)
	w.weather.losesEvents = w.dice.chance(15)
	w.region.LoseEvents(w.weather.losesEvents)
	for _, g := range w.managements {
		g.lag = 0
		if w.dice.chance(40) {
			g.lag = w.dice.between(0, longestLag)
		}
	}
	w.tell("weather", "%s for %s%s%s", w.weather.name, short(lasts), cond(w.weather.cut, ", workload clusters cut off", ""),
		cond(w.weather.losesEvents, ", events are lost", ""))
	w.after(lasts, w.turns)
}

// calms ends all that goes wrong.
func (w *world) calms() {
	w.calm, w.weather = true, weather{name: "calm"}
	w.region.LoseEvents(false)
	for _, g := range w.managements {
		g.lag = 0
	}
	w.tell("weather", "calm from now on")
}

// strike draws what goes wrong with a request.
func (w *world) strike(r *http.Request) strike {
	if w.calm {
		return strike{}
	}
	if w.weather.away {
		return strike{name: away}
	}
	if !w.dice.chance(w.weather.requests) {
		return strike{}
	}
	if r.Method == http.MethodGet {
		return pick(w.dice, w.strikesOfReads())
	}
	return pick(w.dice, strikesOfWrites())
}

// strikesOfReads are what goes wrong with a request that only looks.
func (w *world) strikesOfReads() []weighted[strike] {
	s := []weighted[strike]{
		{3, strike{name: "unavailable", preset: "unavailable"}},
		{2, strike{name: "error", preset: "error"}},
		{2, strike{name: "gateway timeout", preset: "gateway-timeout"}},
		{3, strike{name: "reset", fault: simulator.Fault{Reset: true}}},
		{3, strike{name: "answer lost", fault: simulator.Fault{DropAnswer: true}}},
		{2, strike{name: "hangs", fault: hang(false), hangs: true}},
		{1, strike{name: "killed", kill: killedBefore}},
		{2, strike{name: "killed", kill: killedAfter}},
	}
	if w.old != nil {
		s = append(s, weighted[strike]{4, strike{name: "stale", stale: true, fault: simulator.Fault{From: w.old}}})
	}
	return s
}

// strikesOfWrites are what goes wrong with a request that changes something.
func strikesOfWrites() []weighted[strike] {
	return []weighted[strike]{
		{3, strike{name: "unavailable", preset: "unavailable"}},
		{4, strike{name: "unavailable after the commit", preset: "unavailable", fault: simulator.Fault{Committed: true}}},
		{2, strike{name: "error after the commit", preset: "error", fault: simulator.Fault{Committed: true}}},
		{2, strike{name: "gateway timeout", preset: "gateway-timeout"}},
		{2, strike{name: "gateway timeout after the commit", preset: "gateway-timeout", fault: simulator.Fault{Committed: true}}},
		{2, strike{name: "conflict", preset: "conflict"}},
		{2, strike{name: "conflict, try again", preset: "conflict-retry"}},
		{2, strike{name: "reset", fault: simulator.Fault{Reset: true}}},
		{5, strike{name: "answer lost", fault: simulator.Fault{DropAnswer: true}}},
		{2, strike{name: "hangs", fault: hang(false), hangs: true}},
		{3, strike{name: "hangs after the commit", fault: hang(true), hangs: true}},
		{5, strike{name: "late", late: true}},
		{2, strike{name: "killed, and late", late: true, kill: killedAfter}},
		{3, strike{name: "killed", kill: killedBefore}},
		{5, strike{name: "killed", kill: killedAfter}},
	}
}

// hang is a request that gets no answer. The time that passes is virtual.
func hang(committed bool) simulator.Fault {
	over := make(chan struct{})
	close(over)
	return simulator.Fault{Hang: true, Until: over, Committed: committed}
}

// remembers keeps a copy of the region for stale reads, some seconds old.
func (w *world) remembers() bool {
	w.old = w.region.Renew(w.old)
	return !w.calm
}

// trouble draws what goes wrong with hardware. The region is locked meanwhile.
func (w *world) trouble(e simulator.HardwareEvent) simulator.Trouble {
	if w.calm || w.weather.hardware == 0 || w.isStranger(e.SystemID) || !w.dice.chance(w.weather.hardware) {
		return simulator.Trouble{}
	}
	t := simulator.Trouble{Fail: "chaos: " + string(e.Moment) + " failed"}
	switch e.Moment {
	case simulator.MomentInstall, simulator.MomentBoot:
		if w.dice.chance(35) {
			t = simulator.Trouble{Stuck: true}
		}
	case simulator.MomentPowerOn, simulator.MomentPowerOff, simulator.MomentRelease:
		if w.dice.chance(30) {
			t = simulator.Trouble{Delay: w.dice.between(time.Second, 2*time.Minute)}
		}
	case simulator.MomentErase, simulator.MomentRack, simulator.MomentAddressCheck, simulator.MomentImage:
	case simulator.MomentWorkflow:
		t = simulator.Trouble{Stuck: true}
	default:
		return simulator.Trouble{}
	}
	w.tell("hardware", "%s of %s: %+v", e.Moment, e.SystemID, t)
	return t
}
