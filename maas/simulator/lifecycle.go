package simulator

import (
	"net/netip"
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

// startDeploy begins an installation: state first; addresses, power and the
// installer once the request is committed.
func (t *tx) startDeploy(m *machine, username string) {
	t.setStatus(m, StatusDeploying)
	edit(t, m)
	m.run++
	m.netboot, m.errorDescription = true, ""
	t.renewToken(m)
	t.system(m, "Deploying", "")
	id, run := m.systemID, m.run
	t.afterCommit(func(t *tx) *refusal {
		m, ok := t.machines.get(id)
		if !ok || m.run != run {
			return nil
		}
		return t.beginInstall(m, username)
	})
}

// beginInstall is MAAS's work between the commit of a deploy and its answer.
// When there is no address left the machine goes back to Allocated, and the
// caller gets a 503 although osystem and series stay.
func (t *tx) beginInstall(m *machine, username string) *refusal {
	if refused := t.claimAddresses(m); refused != nil {
		t.dropAddresses(m)
		t.setStatus(m, StatusAllocated)
		edit(t, m).run++
		t.emit(m, username, levelError, "Failed to query node's BMC",
			"("+username+") - Aborting DEPLOYING and reverting to ALLOCATED. Unable to power control the node. Please check power credentials.")
		return refused
	}
	d := t.r.cfg.Durations
	t.switchPower(m, "on")
	install := t.takes(d.Install)
	t.progress(m, install/4, "Loading ephemeral")
	t.laterOn(m, install/2, (*tx).fetchImage)
	t.laterOn(m, install, (*tx).finishInstall)
	if d.DeployTimeout > 0 {
		t.laterOn(m, d.DeployTimeout, func(t *tx, m *machine) {
			if m.status == StatusDeploying {
				t.failDeployment(m, "Node operation 'Deploying' timed out after "+d.DeployTimeout.String()+".")
			}
		})
	}
	return nil
}

// fetchImage is when the installer takes the image from MAAS. One that was
// deleted or replaced since the deploy began is not there any more.
func (t *tx) fetchImage(m *machine) {
	if m.status != StatusDeploying {
		return
	}
	_, there := t.contents.find(func(c *content) bool { return c.sha256 == m.installs.sha256 && c.complete() })
	if m.installs.sha256 != "" && !there {
		t.failDeployment(m, "Installation failed (refer to the installation log for more information).")
		return
	}
	if t.r.cfg.Durations.Install > 0 {
		t.system(m, "Configuring OS", "")
	}
}

// progress shows how far an installation is, if it takes any time.
func (t *tx) progress(m *machine, after time.Duration, kind string) {
	if after <= 0 {
		return
	}
	t.laterOn(m, after, func(t *tx, m *machine) {
		if m.status == StatusDeploying {
			t.system(m, kind, "")
		}
	})
}

// finishInstall is the reboot from the installer into the installed system.
func (t *tx) finishInstall(m *machine) {
	if m.status != StatusDeploying {
		return
	}
	edit(t, m).netboot = false
	t.system(m, "Rebooting", "")
	if t.r.cfg.Boot != nil {
		t.boot(m)
		return
	}
	t.laterOn(m, t.takes(t.r.cfg.Durations.Boot), (*tx).fetchedUserData)
}

// fetchedUserData is the moment at which MAAS takes a machine for deployed.
func (t *tx) fetchedUserData(m *machine) {
	if m.status != StatusDeploying {
		return
	}
	t.setStatus(m, StatusDeployed)
	edit(t, m).netboot = false
	t.system(m, "Deployed", "")
}

// failDeployment ends a deploy. Owner, addresses and power stay.
func (t *tx) failDeployment(m *machine, reason string) {
	t.setStatus(m, StatusFailedDeployment)
	edit(t, m)
	m.run++
	m.errorDescription = reason
	t.emit(m, "unknown", levelError, "Marking node failed", reason)
}

// switchPower changes a machine's power once the command had time to act.
func (t *tx) switchPower(m *machine, state string) {
	if !m.powerable() {
		return
	}
	delay := t.r.cfg.Durations.PowerOn
	if state == "off" {
		delay = t.r.cfg.Durations.PowerOff
	}
	if delay <= 0 {
		edit(t, m).powerState = state
		return
	}
	t.laterOn(m, t.takes(delay), func(t *tx, m *machine) { edit(t, m).powerState = state })
}

// release gives a machine back. It is Ready once its power is off.
func (t *tx) release(m *machine) {
	t.beginRelease(m)
	t.setStatus(m, StatusReleasing)
	t.system(m, "Releasing", "")
	if m.powerState == "off" || !m.powerable() {
		t.finishRelease(m)
		t.halt(m, true, nil)
		return
	}
	id, run := m.systemID, m.run
	t.afterCommit(func(t *tx) *refusal {
		if m, ok := t.machines.get(id); ok && m.run == run {
			t.halt(m, true, (*tx).poweredOff)
		}
		return nil
	})
}

// beginRelease forgets what was deployed.
func (t *tx) beginRelease(m *machine) {
	edit(t, m)
	m.run++
	m.agentName, m.osystem, m.series, m.hweKernel = "", "", "", nil
	t.forgetImage(m)
	m.netboot, m.ephemeral = true, false
}

// forgetImage lets go of what a machine was deployed with.
func (t *tx) forgetImage(m *machine) {
	sha := m.installs.sha256
	m.installs = installedImage{}
	t.afterCommit(func(t *tx) *refusal { t.dropUnused(sha); return nil })
}

// poweredOff is what follows when MAAS sees that a machine is off.
func (t *tx) poweredOff(m *machine) {
	edit(t, m).powerState = "off"
	switch m.status {
	case StatusReleasing:
		t.finishRelease(m)
	case StatusExitingRescueMode:
		t.leaveRescue(m)
	case StatusBroken:
		t.dropAddresses(m)
	}
}

// finishRelease makes a machine free. Its AUTO address rows stay, empty, also
// in DNS resources; a later deploy fills them again.
func (t *tx) finishRelease(m *machine) {
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
	id, run := m.systemID, m.run
	t.afterCommit(func(t *tx) *refusal {
		m, ok := t.machines.get(id)
		if !ok || m.run != run {
			return nil
		}
		t.switchPower(m, "on")
		t.laterOn(m, t.takes(t.r.cfg.Durations.Erase), func(t *tx, m *machine) {
			if m.status == StatusDiskErasing {
				t.release(m)
			}
		})
		return nil
	})
}

// deleteMachine removes a machine. A DNS resource whose only address was one of
// the machine's goes with it.
func (t *tx) deleteMachine(m *machine) {
	edit(t, m).run++
	t.forgetImage(m)
	t.halt(m, true, nil)
	for _, n := range m.nics {
		for _, l := range n.links {
			if row, ok := t.addresses.get(l.addr); ok {
				t.setIP(row, netip.Addr{})
				t.forgetAddress(row)
			}
		}
	}
	t.dropToken(m)
	remove(t, t.machines, m.systemID)
}
