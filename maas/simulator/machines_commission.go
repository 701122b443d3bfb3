package simulator

import (
	"slices"
	"time"
)

// commissionMachine looks at a machine's hardware, perhaps anew.
func commissionMachine(c *call) (*answer, *refusal) {
	m := c.machine
	if !m.status.in(StatusNew, StatusReady, StatusFailedCommissioning, StatusBroken) {
		return nil, invalid(allFields, "Commission is not available because of the current state of the node.")
	}
	c.commission(m)
	return ok(c.render(m))
}

// commission is what a user's order to commission sets off.
func (c *call) commission(m *machine) {
	c.byUser(m, "User starting node commissioning", "")
	r := c.r
	c.busy(m, StatusCommissioning, MomentCommission, c.takes(r.cfg.Durations.Commission), func(m *machine) Status {
		m.commissioned = true
		r.findHardware(m)
		return StatusReady
	})
}

// findHardware gives a machine that was made by request what commissioning
// finds in it. The lock is held, and the machine may be changed.
func (r *Region) findHardware(m *machine) {
	if !m.unexplored {
		return
	}
	m.unexplored = false
	found := &machine{}
	found.setDefaults()
	m.cores, m.memoryMiB, m.disks = max(m.cores, found.cores), max(m.memoryMiB, found.memoryMiB), slices.Clone(m.disks)
	r.addDisk(m, Machine{})
}

// testMachine runs hardware tests, and then puts the machine back.
func testMachine(c *call) (*answer, *refusal) {
	m := c.machine
	if m.status.in(StatusCommissioning, StatusDeploying, StatusReleasing, StatusDiskErasing, StatusEnteringRescueMode, StatusExitingRescueMode, StatusTesting) {
		return nil, invalid(allFields, "Test is not available because of the current state of the node.")
	}
	c.byUser(m, "User starting node testing", "")
	c.busy(m, StatusTesting, MomentTest, c.takes(c.r.cfg.Durations.Test), func(m *machine) Status { return m.previous })
	return ok(c.render(m))
}

// busy keeps a machine in a state for some time, which ends well or not.
func (c *call) busy(m *machine, during Status, moment Moment, d time.Duration, after func(*machine) Status) {
	was := m.status
	unheard := func(t *tx, m *machine) { t.watch(m, during, nodeTimeout) }
	run := func(t *tx, m *machine, late time.Duration) {
		trouble := t.ask(m, moment)
		if trouble.Stuck {
			unheard(t, m)
			return
		}
		t.laterOn(m, d+late+trouble.Delay, func(t *tx, m *machine) {
			switch {
			case m.status != during:
			case trouble.Fail != "":
				t.markFailed(m, during.failure(), trouble.Fail)
			default:
				edit(t, m)
				t.setStatus(m, after(m))
				t.vacate(m)
			}
		})
	}
	c.occupy(m, during, powerOrder{meanwhile: run, unheard: unheard, failed: func(t *tx, m *machine) {
		if m.status == during {
			t.setStatus(m, was)
			t.vacate(m)
		}
	}})
}

// occupy makes a machine busy for the caller, who owns it for that time when
// nobody else does, and switches it on.
func (c *call) occupy(m *machine, during Status, o powerOrder) {
	c.setStatus(m, during)
	edit(c.tx, m)
	m.run++
	if m.owner == "" {
		m.owner = c.user.name
	}
	c.system(m, during.String(), "")
	o.on = true
	c.orderLater(m, o)
}

// vacate takes a machine from its owner when it came back to a state in which
// machines have none.
func (t *tx) vacate(m *machine) {
	if !m.status.in(releasable()...) {
		edit(t, m).owner = ""
	}
}

func overrideFailedTesting(c *call) (*answer, *refusal) {
	m := c.machine
	if m.status != StatusFailedTesting {
		return nil, conflict("Unable to override node status. Node is not in 'Failed testing' status.")
	}
	to := StatusReady
	if m.osystem != "" {
		to = StatusDeployed
	}
	c.setStatus(m, to)
	edit(c.tx, m).errorDescription = ""
	c.vacate(m)
	return ok(c.render(m))
}
