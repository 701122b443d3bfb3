package simulator

import (
	"net/http"
	"time"
)

// beginning is what a deploy knows when it is committed.
type beginning struct {
	username string
	// reached says that a rack was found that reaches the BMC, and late how much
	// longer that took.
	reached bool
	late    time.Duration
}

// startDeploy begins an installation: state first; addresses, power and the
// installer once the request is committed.
func (t *tx) startDeploy(m *machine, b beginning) {
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
		return t.beginInstall(m, b)
	})
}

// beginInstall is MAAS's work between the commit of a deploy and its answer.
func (t *tx) beginInstall(m *machine, b beginning) *refusal {
	t.watch(m, StatusDeploying, t.r.cfg.Durations.DeployTimeout)
	check := t.ask(m, MomentAddressCheck)
	if check.Stuck {
		t.holdForever()
		return nil
	}
	b.late += check.Delay
	refused := t.claimAddresses(m)
	if refused == nil && check.Fail != "" {
		refused = addressesUnchecked()
	}
	if refused == nil {
		refused = t.switchOnToInstall(m, b)
	}
	if refused != nil {
		t.abandonDeploy(m, b.username)
	}
	if check.Delay == 0 {
		return refused
	}
	if refused != nil {
		refused.bare = true
	}
	t.hold(check.Delay, refused)
	return nil
}

// switchOnToInstall has the machine start the installer. MAAS 3.4: the rack is
// asked, and says yes. MAAS 3.5: the machine's being on is waited for. MAAS 3.6
// and newer: a workflow is started that does it.
func (t *tx) switchOnToInstall(m *machine, b beginning) *refusal {
	workflow := t.r.since(3, 6)
	if workflow {
		trouble := t.ask(m, MomentWorkflow)
		switch {
		case trouble.Fail != "":
			return text(http.StatusInternalServerError, trouble.Fail)
		case trouble.Stuck:
			return nil
		}
		b.late += trouble.Delay
	}
	return t.order(m, powerOrder{
		on: true, reached: b.reached, background: workflow, late: b.late,
		meanwhile: (*tx).install,
		failed: func(t *tx, m *machine) {
			if !workflow {
				t.abandonDeploy(m, b.username)
			}
		},
	})
}

// abandonDeploy is what MAAS does when a deploy fails after its commit: the
// machine is Allocated again, though osystem and series stay.
func (t *tx) abandonDeploy(m *machine, username string) {
	if m.status != StatusDeploying {
		return
	}
	t.dropAddresses(m)
	t.setStatus(m, StatusAllocated)
	edit(t, m).run++
	t.emit(m, username, levelError, "Failed to query node's BMC",
		"("+username+") - Aborting DEPLOYING and reverting to ALLOCATED. Unable to power control the node. Please check power credentials.")
}

// install plays the installer of a machine that is switched on, so much later
// than usual.
func (t *tx) install(m *machine, late time.Duration) {
	d := t.takes(t.r.cfg.Durations.Install)
	trouble := t.ask(m, MomentInstall)
	d += trouble.Delay
	t.progress(m, late+d/4, "Loading ephemeral")
	switch {
	case trouble.Stuck:
	case trouble.Fail != "":
		t.laterOn(m, late+d, func(t *tx, m *machine) {
			if m.status == StatusDeploying {
				t.failDeployment(m, trouble.Fail)
			}
		})
	default:
		t.laterOn(m, late+d/2, (*tx).fetchImage)
		t.laterOn(m, late+d, (*tx).finishInstall)
	}
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
	trouble := t.ask(m, MomentBoot)
	switch {
	case trouble.Stuck:
	case trouble.Fail != "":
		t.laterOn(m, t.takes(t.r.cfg.Durations.Boot)+trouble.Delay, func(t *tx, m *machine) {
			if m.status == StatusDeploying {
				t.failDeployment(m, trouble.Fail)
			}
		})
	case t.r.cfg.Boot != nil:
		t.boot(m, trouble.Delay)
	default:
		t.laterOn(m, t.takes(t.r.cfg.Durations.Boot)+trouble.Delay, (*tx).fetchedUserData)
	}
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
	t.markFailed(m, StatusFailedDeployment, reason)
	edit(t, m).run++
}
