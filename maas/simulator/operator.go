package simulator

import (
	"fmt"
	"maps"
	"net/http"
)

// The Operator calls, and those below, do what people and hardware do behind a
// client's back. Each is one transaction; an unknown machine is an error.

// act runs f on a machine as one transaction.
func (r *Region) act(systemID string, f func(*tx, *machine)) error {
	return r.tryAct(systemID, func(t *tx, m *machine) *refusal {
		f(t, m)
		return nil
	})
}

// tryAct runs f on a machine as one transaction, which a refusal undoes.
func (r *Region) tryAct(systemID string, f func(*tx, *machine) *refusal) error {
	found := false
	refused := r.change(func(t *tx) *refusal {
		m, ok := t.machines.get(systemID)
		if !ok {
			return nil
		}
		found = true
		return f(t, m)
	})
	switch {
	case !found:
		return fmt.Errorf("no machine %q", systemID)
	case refused != nil:
		return fmt.Errorf("machine %s: %s", systemID, refused.body)
	}
	return nil
}

// noSuch refuses an act that names something that is not there.
func noSuch(kind, name string) *refusal {
	return text(http.StatusBadRequest, fmt.Sprintf("no %s %q", kind, name))
}

// OperatorRelease releases a machine as an admin in MAAS's UI would, whatever
// its owner and lock.
func (r *Region) OperatorRelease(systemID string) error {
	return r.act(systemID, func(t *tx, m *machine) {
		edit(t, m).locked = false
		t.actedBy(t.someAdmin(), m, "User releasing node", "")
		t.release(m)
	})
}

// OperatorDelete removes a machine from MAAS.
func (r *Region) OperatorDelete(systemID string) error {
	return r.act(systemID, func(t *tx, m *machine) { t.deleteMachine(m) })
}

// SetOwner gives a machine to a user; "" takes it from everybody. Agent name
// and annotations stay.
func (r *Region) SetOwner(systemID, user string) error {
	return r.act(systemID, func(t *tx, m *machine) { edit(t, m).owner = user })
}

// SetStatus puts a machine into a state, without anything else that MAAS would
// do on the way.
func (r *Region) SetStatus(systemID string, status Status) error {
	return r.act(systemID, func(t *tx, m *machine) {
		edit(t, m).run++
		t.setStatus(m, status)
	})
}

// SetPower makes MAAS see a power state: "on", "off", "unknown" or "error". The
// Booter is not asked.
func (r *Region) SetPower(systemID, state string) error {
	return r.act(systemID, func(t *tx, m *machine) { edit(t, m).powerState = state })
}

// Lock locks or unlocks a machine, in any state.
func (r *Region) Lock(systemID string, locked bool) error {
	return r.act(systemID, func(t *tx, m *machine) { edit(t, m).locked = locked })
}

// SetAgentName changes the agent name that the last allocate left.
func (r *Region) SetAgentName(systemID, name string) error {
	return r.act(systemID, func(t *tx, m *machine) { edit(t, m).agentName = name })
}

// SetAnnotations replaces a machine's workload annotations.
func (r *Region) SetAnnotations(systemID string, annotations map[string]string) error {
	return r.act(systemID, func(t *tx, m *machine) { edit(t, m).annotations = maps.Clone(annotations) })
}

// Rename changes a machine's hostname.
func (r *Region) Rename(systemID, hostname string) error {
	return r.tryAct(systemID, func(t *tx, m *machine) *refusal {
		if !isLabel(hostname) {
			return text(http.StatusBadRequest, fmt.Sprintf("%q is no hostname", hostname))
		}
		if _, taken := t.machines.find(func(o *machine) bool { return o != m && o.hostname == hostname }); taken {
			return text(http.StatusBadRequest, fmt.Sprintf("there is a machine %q already", hostname))
		}
		edit(t, m).hostname = hostname
		t.touchDNS()
		return nil
	})
}

// FailDeployment fails a deploy that runs: the installer reported reason.
func (r *Region) FailDeployment(systemID, reason string) error {
	return r.act(systemID, func(t *tx, m *machine) {
		if m.status == StatusDeploying {
			t.failDeployment(m, reason)
		}
	})
}

// AddMachine adds hardware and returns its system ID.
func (r *Region) AddMachine(m Machine) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
	return r.addMachine(m)
}

// LogEvent writes an entry about a machine into the event log, of a level such
// as "DEBUG", as racks and machines do that the simulator does not play.
func (r *Region) LogEvent(systemID, level, kind, description string) error {
	number, known := levelNamed(level)
	if !known {
		return fmt.Errorf("unknown level %q", level)
	}
	return r.act(systemID, func(t *tx, m *machine) { t.emit(m, "unknown", number, kind, description) })
}
