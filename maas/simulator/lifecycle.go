package simulator

import (
	"net/netip"
	"strconv"
	"time"
)

// What a machine goes through after a request was committed. A step that is
// queued carries the machine's run number: if that has changed when the step
// is due, something else happened to the machine, and the step does nothing.

// step changes a machine when its run is still the one given.
func (r *Region) step(systemID string, run int, f func(*tx, *machine)) {
	r.change(func(t *tx) *refusal {
		if m, ok := t.machines.get(systemID); ok && m.run == run {
			f(t, m)
		}
		return nil
	})
}

// laterOn queues a step of a machine's present run.
func (t *tx) laterOn(m *machine, delay time.Duration, f func(*tx, *machine)) {
	id, run, r := m.systemID, m.run, t.r
	t.later(delay, func() { r.step(id, run, f) })
}

// setStatus changes a machine's state and records it.
func (t *tx) setStatus(m *machine, to Status) {
	from := m.status
	if from == to {
		return
	}
	edit(t, m)
	if to.remembersPrevious() && !from.remembersPrevious() {
		m.previous = from
	}
	m.status = to
	description := "From '" + from.String() + "' to '" + to.String() + "'"
	if to == StatusAllocated && m.owner != "" && from == StatusReady {
		description += " (to " + m.owner + ")"
	}
	t.emit(m, "unknown", levelDebug, "Node changed status", description)
}

// markFailed puts a machine into one of the states of failure. What is queued
// for it still happens.
func (t *tx) markFailed(m *machine, to Status, reason string) {
	t.setStatus(m, to)
	edit(t, m).errorDescription = reason
	t.emit(m, "unknown", levelError, "Marking node failed", reason)
}

// The deadlines that MAAS sets by itself. MAAS 3.4 to 3.7: five minutes to
// release and to exit rescue mode; for commissioning and tests that are not
// heard of its setting node_timeout, which is 30 minutes unless changed; none
// for the erasing of disks and to enter rescue mode.
const (
	soonTimeout = 5 * time.Minute
	nodeTimeout = 30 * time.Minute
)

// failure is the state in which a machine ends that does not get out of a
// state in time.
func (s Status) failure() Status {
	switch s {
	case StatusCommissioning:
		return StatusFailedCommissioning
	case StatusTesting:
		return StatusFailedTesting
	case StatusReleasing:
		return StatusFailedReleasing
	case StatusExitingRescueMode:
		return StatusFailedExitingRescueMode
	}
	return StatusFailedDeployment
}

// watch fails what a machine is busy with when it is not over by the deadline.
// Zero is none.
func (t *tx) watch(m *machine, during Status, deadline time.Duration) {
	if deadline <= 0 {
		return
	}
	reason := "Node operation '" + during.String() + "' timed out after " + strconv.FormatFloat(deadline.Minutes(), 'f', -1, 64) + " minutes."
	t.laterOn(m, deadline, func(t *tx, m *machine) {
		switch {
		case m.status != during:
		case during == StatusDeploying:
			t.failDeployment(m, reason)
		default:
			t.markFailed(m, during.failure(), reason)
		}
	})
}

// release gives a machine back. It is Ready once its power is off.
func (t *tx) release(m *machine) {
	was := m.status
	t.beginRelease(m)
	t.setStatus(m, StatusReleasing)
	t.system(m, "Releasing", "")
	if m.powerState == "off" || !m.powerable() {
		t.concludeRelease(m)
		t.wipe(m)
	} else {
		t.orderLater(m, powerOrder{halt: true, wipe: true, then: (*tx).poweredOff, failed: func(t *tx, m *machine) { t.revertRelease(m, was) }})
	}
	if m.status == StatusReleasing {
		t.watch(m, StatusReleasing, soonTimeout)
	}
}

// beginRelease forgets what was deployed.
func (t *tx) beginRelease(m *machine) {
	edit(t, m)
	m.run++
	m.agentName, m.osystem, m.series, m.hweKernel = "", "", "", nil
	t.forgetImage(m)
	m.netboot, m.ephemeral = true, false
}

// revertRelease puts a machine back that could not be switched off. What the
// release cleared stays so.
func (t *tx) revertRelease(m *machine, to Status) {
	if m.status != StatusReleasing {
		return
	}
	t.setStatus(m, to)
	edit(t, m).run++
	if to == StatusDeploying {
		t.watch(m, to, t.r.cfg.Durations.DeployTimeout)
	}
}

// forgetImage lets go of what a machine was deployed with.
func (t *tx) forgetImage(m *machine) {
	sha := m.installs.sha256
	m.installs = installedImage{}
	t.afterCommit(func(t *tx) *refusal { t.dropUnused(sha); return nil })
}

// concludeRelease is what follows when a machine is off that is released.
func (t *tx) concludeRelease(m *machine) {
	trouble := t.ask(m, MomentRelease)
	end := (*tx).finishRelease
	switch {
	case trouble.Stuck:
		return
	case trouble.Fail != "":
		end = func(t *tx, m *machine) { t.markFailed(m, StatusFailedReleasing, trouble.Fail) }
	}
	if trouble.Delay == 0 {
		end(t, m)
		return
	}
	t.laterOn(m, trouble.Delay, func(t *tx, m *machine) {
		if m.status == StatusReleasing {
			end(t, m)
		}
	})
}

// finishRelease makes a machine free. Its AUTO address rows stay, empty, also
// in DNS resources; a later deploy fills them again. One that an allocate
// composed goes altogether.
func (t *tx) finishRelease(m *machine) {
	if m.dynamic {
		t.system(m, "Released", "")
		t.deleteMachine(m)
		return
	}
	t.dropAddresses(m)
	edit(t, m)
	m.owner, m.annotations, m.errorDescription = "", nil, ""
	m.userData, m.hasUserData, m.locked = nil, false, false
	t.dropToken(m)
	to := StatusReady
	if !m.commissioned {
		to = StatusNew
	}
	t.setStatus(m, to)
	t.system(m, "Released", "")
}

// erase wipes a machine's disks before it is released.
func (t *tx) erase(m *machine) {
	edit(t, m)
	m.run++
	m.agentName, m.hweKernel = "", nil
	t.setStatus(m, StatusDiskErasing)
	t.orderLater(m, powerOrder{on: true, meanwhile: (*tx).wipeDisks, failed: func(t *tx, m *machine) {
		if m.status == StatusDiskErasing {
			t.markFailed(m, StatusFailedDiskErasing, "Could not start node for disk erasure.")
		}
	}})
}

// wipeDisks plays the erasing of a machine that is switched on.
func (t *tx) wipeDisks(m *machine, late time.Duration) {
	trouble := t.ask(m, MomentErase)
	if trouble.Stuck {
		return
	}
	t.laterOn(m, t.takes(t.r.cfg.Durations.Erase)+late+trouble.Delay, func(t *tx, m *machine) {
		switch {
		case m.status != StatusDiskErasing:
		case trouble.Fail != "":
			t.markFailed(m, StatusFailedDiskErasing, trouble.Fail)
		default:
			t.release(m)
		}
	})
}

// deleteMachine removes a machine. A DNS resource whose only address was one of
// the machine's goes with it.
func (t *tx) deleteMachine(m *machine) {
	edit(t, m).run++
	t.forgetImage(m)
	t.wipe(m)
	for _, n := range m.nics {
		for _, l := range n.links {
			if row, ok := t.addresses.get(l.addr); ok {
				t.setIP(row, netip.Addr{})
				t.forgetAddress(row)
			}
		}
	}
	t.dropToken(m)
	t.forgetEvents(m)
	remove(t, t.machines, m.systemID)
}
