package chaos

import (
	"strings"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/avoidance"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// How much virtual time everything has at most, once nothing goes wrong any more.
const (
	settlesWithin = 5 * time.Hour
	goesWithin    = 3 * time.Hour
)

// lives lets everything happen, then lets it calm down, and then takes it all down.
func (w *world) lives() {
	for _, g := range w.managements {
		g.starts()
	}
	w.turns()
	w.every(3*time.Second, w.remembers)
	for _, c := range w.clusters {
		w.after(w.dice.between(0, 10*time.Minute), func() {
			c.begins()
			w.every(beat, c.ticks)
		})
	}
	w.after(10*time.Minute, w.operates)
	w.after(15*time.Minute, w.uses)
	w.pass(w.plan.lasts+15*time.Minute, nil)
	if w.isBroken() {
		return
	}
	w.calms()
	w.mends()
	if !w.pass(settlesWithin, func() bool { return w.unsettled() == "" }) && !w.isBroken() {
		w.breaks("not as it should be within %s: %s", settlesWithin, w.unsettled())
	}
	if w.isBroken() {
		return
	}
	w.tell("world", "all is as it should be")
	for _, c := range w.clusters {
		w.deletes(c)
	}
	if !w.pass(goesWithin, func() bool { return w.leftover() == "" }) && !w.isBroken() {
		w.breaks("not gone within %s: %s", goesWithin, w.leftover())
	}
	if w.isBroken() {
		return
	}
	w.pass(avoidance.Period+time.Hour, nil)
	w.abortsErasing()
	w.pass(time.Hour, nil)
	w.judgesTheEnd()
}

// mends is what operators do when it is calm: nothing is locked any more, and MAAS sees all power.
func (w *world) mends() {
	for _, id := range w.machines {
		if m, there := w.region.Machine(id); there && !w.isStranger(id) {
			w.unlock(id)
			w.seesPower(id, m.PowerState)
		}
	}
	w.every(5*time.Minute, w.attends)
}

// attends is what operators do whom a condition asks for it: they abort the erasing of disks for which a machine does not boot, and switch
// off one that was marked broken.
func (w *world) attends() bool {
	for _, g := range w.managements {
		for _, o := range all[*infrav1.MaasMachine](g.store) {
			m, _ := w.region.Machine(o.Spec.SystemID)
			if m.Status == simulator.StatusDiskErasing && m.PowerState != "on" && hasReason(o, "", "abort the erasing in MAAS") {
				w.tell("operator", "aborts the erasing of %s", m.SystemID)
				w.must(w.region.SetStatus(m.SystemID, simulator.StatusFailedDiskErasing))
			}
			if m.Status == simulator.StatusBroken && hasReason(o, "", "switch it off in MAAS") {
				w.tell("operator", "switches off %s", m.SystemID)
				w.must(w.region.OperatorPower(m.SystemID, false))
			}
		}
	}
	return true
}

// unsettled says what is not as it should be, and no condition tells why; "" if all is well.
func (w *world) unsettled() string {
	for _, c := range w.clusters {
		o := c.object()
		if o == nil {
			continue
		}
		if !o.DeletionTimestamp.IsZero() || c.moving {
			return "cluster " + c.name + " is on its way"
		}
		if why := c.unsettled(); why != "" {
			return why
		}
	}
	return ""
}

func (c *cluster) unsettled() string {
	if !c.provisioned() {
		return "the infrastructure of " + c.name + " is not provisioned"
	}
	if c.isLost() {
		return ""
	}
	starved := false
	var addresses []string
	for _, m := range c.machines("") {
		infra := find[*infrav1.MaasMachine](c.of.store, m.Name)
		switch {
		case infra == nil || !m.DeletionTimestamp.IsZero():
			return m.Name + " is going" + conditionsOf(infra)
		case c.isWell(m):
			if roleOf(m) == controlPlane {
				machine, _ := c.w.region.Machine(infra.Spec.SystemID)
				addresses = append(addresses, machine.Addresses...)
			}
		case hasReason(infra, infrav1.NoMachineAvailableReason, "") && !c.w.isFree(infra):
			starved = true
		case !c.initialized && hasReason(infra, infrav1.WaitingForBootstrapDataReason, ""): // the control plane is not well, which is told below
		default:
			return m.Name + " is not well" + conditionsOf(infra)
		}
	}
	if host := c.host(); c.plan.managed && !sameSet(c.w.record(host), addresses) {
		return sprintf("record %s holds %v, and the control plane has %v", host, c.w.record(host), addresses)
	}
	if starved || !c.initialized {
		return cond(starved, "", c.name+" is not initialised")
	}
	for _, r := range roles {
		if n := c.count(r); len(n.live) != c.wanted[r] || len(n.outdated) > 0 {
			return sprintf("%d machines of role %s of %s, %d outdated, and %d are wanted", len(n.live), r, c.name, len(n.outdated), c.wanted[r])
		}
	}
	return ""
}

// isLost says that the control plane is: it was initialised, and nothing is left of it. Nobody replaces it then.
func (c *cluster) isLost() bool {
	if !c.initialized {
		return false
	}
	for _, id := range c.w.machines {
		c.w.runs(id)
		if t := c.w.tenants[id]; t != nil && t.cluster == c.name && t.node != "" && strings.Contains(t.machine, "-cp-") {
			return false
		}
	}
	return true
}

// hasReason says that a condition tells a reason, "" for any, in a message that contains words.
func hasReason(infra *infrav1.MaasMachine, reason, words string) bool {
	for _, c := range infra.Status.Conditions {
		if (reason == "" || c.Reason == reason) && strings.Contains(c.Message, words) {
			return true
		}
	}
	return false
}

// isFree says that a machine is there which an object could have.
func (w *world) isFree(infra *infrav1.MaasMachine) bool {
	for _, id := range w.machines {
		m, there := w.region.Machine(id)
		zone := infra.Spec.FailureDomain
		if c := w.clusterNamed(infra.Labels["cluster.x-k8s.io/cluster-name"]); c != nil {
			for _, o := range c.machines("") {
				if o.Name == infra.Name && o.Spec.FailureDomain != "" {
					zone = o.Spec.FailureDomain
				}
			}
		}
		if there && m.Status == simulator.StatusReady && !m.Locked && (zone == "" || zone == m.Zone) && len(m.Tags) == 0 {
			return true
		}
	}
	return false
}

func (w *world) clusterNamed(name string) *cluster {
	for _, c := range w.clusters {
		if c.name == name {
			return c
		}
	}
	return nil
}

func conditionsOf(infra *infrav1.MaasMachine) string {
	if infra == nil {
		return ""
	}
	text := &strings.Builder{}
	for _, c := range infra.Status.Conditions {
		text.WriteString(sprintf("\n    %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return text.String()
}

func sameSet(a, b []string) bool {
	in := map[string]bool{}
	for _, text := range a {
		in[text] = true
	}
	for _, text := range b {
		if !in[text] {
			return false
		}
		delete(in, text)
	}
	return len(in) == 0
}

// leftover says what of the clusters is there still.
func (w *world) leftover() string {
	for _, g := range w.managements {
		for _, o := range all[*infrav1.MaasMachine](g.store) {
			if !o.DeletionTimestamp.IsZero() {
				return o.Name + " is there" + conditionsOf(o)
			}
		}
		for _, kind := range []string{"MaasMachine", "MaasCluster", "Secret", "Machine"} {
			for _, id := range g.store.ids(kind) {
				if g.store.at(id, 0) != nil {
					return id.String() + " is there"
				}
			}
		}
	}
	for _, c := range w.clusters {
		if c.object() != nil {
			return c.name + " is there"
		}
	}
	return ""
}

// abortsErasing is what operators do with machines that never started to erase their disks: MAAS waits for them for ever.
func (w *world) abortsErasing() {
	for _, id := range w.machines {
		if m, _ := w.region.Machine(id); m.Status == simulator.StatusDiskErasing && !w.isStranger(id) {
			w.tell("operator", "releases %s, whose disks nobody erases", id)
			w.must(w.region.OperatorRelease(id))
		}
	}
}

// judgesTheEnd looks whether MAAS holds what it held before.
func (w *world) judgesTheEnd() {
	for _, id := range w.machines {
		m, there := w.region.Machine(id)
		if w.isStranger(id) || !there || w.spoilt[id] != "" {
			continue
		}
		if m.Owner != "" || m.AgentName != "" || len(m.Annotations) > 0 || len(m.Tags) > 0 {
			w.breaks("machine %s is left over: %+v", id, m)
		}
	}
	end := w.region.Snapshot()
	for _, r := range end.DNSResources {
		w.breaks("a DNS record is left over: %+v", r)
	}
	for _, tag := range end.Tags {
		w.breaks("a tag is left over: %s", tag)
	}
	w.holds()
}
