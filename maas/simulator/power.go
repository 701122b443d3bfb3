package simulator

import (
	"net/http"
	"strings"
	"time"
)

// powerOrder is an order to a machine's BMC. MAAS gives it after the commit.
type powerOrder struct {
	on bool
	// halt stops what the Booter runs, and wipe makes it forget the disk.
	halt, wipe bool
	// reached says that a rack was found already, before the commit.
	reached bool
	// background says that the request does not wait, in no version.
	background bool
	// late is how much longer it takes than usual, by what came before.
	late time.Duration
	// meanwhile runs at once if the order will be followed. The time given is how
	// much later than usual.
	meanwhile func(*tx, *machine, time.Duration)
	// unheard runs at once if the order will not be followed and nobody is told.
	unheard func(*tx, *machine)
	// then runs when the new state shows.
	then func(*tx, *machine)
	// failed runs when the caller is told that the order was not followed.
	failed func(*tx, *machine)
}

// order gives an order to a machine's BMC. What it refuses becomes the answer,
// though the commit stands.
//
// MAAS 3.4: the rack acknowledges before it acts, so nobody hears of a failure,
// unless the rack is busy with another order. MAAS 3.5 and newer: the request
// waits, and tells.
func (t *tx) order(m *machine, o powerOrder) *refusal {
	if !m.powerable() {
		if o.meanwhile != nil {
			o.meanwhile(t, m, o.late)
		}
		return nil
	}
	late := o.late
	if !o.reached {
		rack := t.ask(m, MomentRack)
		if rack.Fail != "" || rack.Stuck {
			edit(t, m).powerState = "unknown"
			o.fail(t, m)
			return noRack(rackID)
		}
		late += rack.Delay
	}
	moment, d := MomentPowerOff, t.r.cfg.Durations.PowerOff
	if o.on {
		moment, d = MomentPowerOn, t.r.cfg.Durations.PowerOn
	}
	trouble := t.ask(m, moment)
	late += trouble.Delay
	awaited := t.r.since(3, 5)
	if !awaited && strings.Contains(trouble.Fail, "already in progress") {
		o.fail(t, m)
		return text(http.StatusServiceUnavailable, trouble.Fail)
	}
	w := work{delay: late}
	if awaited && !o.background {
		w.outcome = newOutcome()
	}
	if o.unheard != nil && (trouble.Stuck || trouble.Fail != "" && !awaited) {
		o.unheard(t, m)
	}
	switch {
	case trouble.Stuck:
		w.run = func() {}
	case trouble.Fail != "":
		w.run = t.r.orderFails(m.systemID, m.run, o, trouble.Fail, w.outcome)
	default:
		w.delay += t.takes(d)
		w.run = t.r.follow(m.systemID, m.run, o, w.outcome)
		if o.meanwhile != nil {
			o.meanwhile(t, m, late)
		}
	}
	t.work = append(t.work, w)
	return nil
}

func (o *powerOrder) fail(t *tx, m *machine) {
	if o.failed != nil {
		o.failed(t, m)
	}
}

// follow returns what carries out an order. Whoever waits for it waits for the
// Booter too.
func (r *Region) follow(systemID string, run int, o powerOrder, result *outcome) func() {
	shows := func() {
		r.step(systemID, run, func(t *tx, m *machine) {
			edit(t, m).powerState = "off"
			if o.on {
				m.powerState = "on"
			}
			if o.then != nil {
				o.then(t, m)
			}
		})
		result.end(nil)
	}
	if !o.halt || r.cfg.Boot == nil {
		return shows
	}
	return func() {
		r.background(func() {
			if !r.onRun(systemID, run) {
				result.end(nil) // the machine is somebody else's by now
				return
			}
			if err := r.haltNow(systemID, o.wipe); err != nil {
				r.orderFails(systemID, run, o, err.Error(), result)()
				return
			}
			shows()
		})
	}
}

// onRun says whether a machine is there and still does what it did.
func (r *Region) onRun(systemID string, run int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.state.machines.get(systemID)
	return ok && m.run == run
}

// orderFails returns what happens when the BMC does not follow an order.
func (r *Region) orderFails(systemID string, run int, o powerOrder, why string, result *outcome) func() {
	kind := "Failed to power off node"
	if o.on {
		kind = "Failed to power on node"
	}
	return func() {
		r.step(systemID, run, func(t *tx, m *machine) {
			t.emit(m, "unknown", levelError, kind, why)
			if r.since(3, 5) {
				o.fail(t, m)
			}
		})
		refused := text(http.StatusInternalServerError, why)
		refused.bare = true
		result.end(refused)
	}
}

// noRack is the answer when no rack is connected that reaches a BMC; rack is
// the one that ought to, if there is one.
func noRack(rack string) *refusal {
	refused := text(http.StatusServiceUnavailable, "Unable to connect to any rack controller "+rack+"; no connections available.")
	refused.headers = map[string]string{"Retry-After": "10"}
	return refused
}

// addressesUnchecked is the answer when a rack cannot check a deploy's addresses.
func addressesUnchecked() *refusal {
	return text(http.StatusServiceUnavailable, "IP address checks failed after 2 retries.")
}

// poweredOff is what follows when MAAS sees that a machine is off.
func (t *tx) poweredOff(m *machine) {
	edit(t, m).powerState = "off"
	switch m.status {
	case StatusReleasing:
		t.concludeRelease(m)
	case StatusExitingRescueMode:
		if m.previous == StatusDeployed && !t.r.since(3, 5) {
			// MAAS 3.4.10: it should have come back on.
			t.setStatus(m, StatusFailedExitingRescueMode)
			return
		}
		t.leaveRescue(m)
	case StatusBroken:
		t.dropAddresses(m)
	}
}

// orderLater gives an order to a machine's BMC once the transaction is
// committed.
func (t *tx) orderLater(m *machine, o powerOrder) {
	id, run := m.systemID, m.run
	t.afterCommit(func(t *tx) *refusal {
		if m, ok := t.machines.get(id); ok && m.run == run {
			return t.order(m, o)
		}
		return nil
	})
}
