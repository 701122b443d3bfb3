package simulator

// OperatorPower switches a machine on or off without MAAS, as somebody at its
// plug does, and MAAS sees it. What the Booter runs stops at once, as when
// power is lost; a Deployed machine that was off boots its disk again.
func (r *Region) OperatorPower(systemID string, on bool) error {
	return r.act(systemID, func(t *tx, m *machine) {
		wasOff := m.powerState != "on"
		switch {
		case on:
			edit(t, m).powerState = "on"
			if m.status == StatusDeployed && wasOff {
				t.restart(m)
			}
		case r.cfg.Boot == nil:
			edit(t, m).powerState = "off"
		default:
			t.later(0, func() { r.background(func() { r.unplug(systemID) }) })
		}
	})
}

// unplug stops what the Booter runs, and shows that the machine is off.
func (r *Region) unplug(systemID string) {
	err := r.haltNow(systemID, false)
	r.change(func(t *tx) *refusal {
		m, ok := t.machines.get(systemID)
		switch {
		case !ok:
		case err != nil:
			t.emit(m, "unknown", levelError, "Failed to power off node", err.Error())
		default:
			edit(t, m).powerState = "off"
		}
		return nil
	})
}
