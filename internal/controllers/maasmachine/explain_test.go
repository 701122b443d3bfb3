package maasmachine

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// failDeploy lets the deployment of a machine fail on the hardware.
func failDeploy(w *world, name, reason string) (systemID string) {
	w.Helper()
	w.until(name, func() bool { return w.get(name).Status.MachineState == "Deploying" })
	systemID = w.get(name).Spec.SystemID
	if err := w.region.FailDeployment(systemID, reason); err != nil {
		w.Fatal(err)
	}
	w.pass(name, time.Minute)
	return systemID
}

func TestAFailedDeploymentTellsMAASsReasonAndWhereToLook(t *testing.T) {
	t.Parallel()
	for name, version := range map[string]string{
		"in the machine, since MAAS 3.5":      "3.7.3",
		"in the event log alone, before that": "3.4.10",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *simulator.Config) { c.Version = version })
			w.add("w1", false, tries(1))
			id := failDeploy(w, "w1", "curtin: no disk")
			m := conditions.GetMessage(w.get("w1"), infrav1.MachineReadyCondition)
			for _, want := range []string{"curtin: no disk", w.inMAAS(id).Hostname + " (" + id + ")", "/MAAS/r/machine/" + id, "delete Machine w1 in Kubernetes"} {
				if !strings.Contains(m, want) {
					t.Errorf("%q is not in: %s", want, m)
				}
			}
			before := w.get("w1").ResourceVersion
			w.pass("w1", 10*time.Minute)
			if w.get("w1").ResourceVersion != before {
				t.Errorf("what it says does not stay: %s", w.story("w1"))
			}
		})
	}
}

func TestAFailedMachineIsKeptOnRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false, func(m *infrav1.MaasMachine) { m.Spec.KeepFailed = true })
	id := failDeploy(w, "w1", "curtin: no disk")
	w.told()
	w.delete("w1")
	w.until("w1", w.goneFrom("w1"))
	m := w.inMAAS(id)
	if m.Status != simulator.StatusFailedDeployment || m.Owner != ourUser || w.calls("release") != 0 {
		t.Errorf("it was not kept: %+v", m)
	}
	if got := m.Annotations[infrav1.MachineAnnotationKept]; !strings.Contains(got, "default.w1") {
		t.Errorf("in MAAS nothing tells why: %v", m.Annotations)
	}
	wantEvents(t, w, "Kept")
}

func TestConstraintsThatMAASChecksArePassedOn(t *testing.T) {
	t.Parallel()
	config := func(c *simulator.Config) {
		c.Subnets = []simulator.Subnet{{Name: "front", CIDR: "10.1.0.0/24", Space: "dmz"}, {Name: "back", CIDR: "10.2.0.0/24"}}
		c.Machines = []simulator.Machine{
			{Hostname: "m1", SystemID: "aaaaa1", Subnet: "back", DiskGB: 100},
			{Hostname: "m2", SystemID: "aaaaa2", Subnet: "front", DiskGB: 100},
			{Hostname: "m3", SystemID: "aaaaa3", Subnet: "front", DiskGB: 900},
		}
	}
	for name, test := range map[string]struct {
		spec    func(*infrav1.MaasMachineSpec)
		claimed string
		reason  string
		says    string
	}{
		"a subnet":     {spec: func(s *infrav1.MaasMachineSpec) { s.Subnets = []string{"space:dmz"} }, claimed: "aaaaa2"},
		"disks":        {spec: func(s *infrav1.MaasMachineSpec) { s.Storage = "root:500" }, claimed: "aaaaa3"},
		"an interface": {spec: func(s *infrav1.MaasMachineSpec) { s.Interfaces = "eth0:space=dmz" }, claimed: "aaaaa2"},
		"none has such disks": {
			spec:   func(s *infrav1.MaasMachineSpec) { s.Storage = "root:5000" },
			reason: infrav1.NoMachineAvailableReason, says: `storage "root:5000"`,
		},
		"no such subnet": {
			spec:   func(s *infrav1.MaasMachineSpec) { s.Subnets = []string{"name:nowhere"} },
			reason: infrav1.ClaimRefusedReason, says: "No matching subnets found",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, config)
			w.add("w1", false, func(m *infrav1.MaasMachine) { test.spec(&m.Spec) })
			w.pass("w1", 2*time.Minute)
			if got := w.get("w1").Spec.SystemID; got != test.claimed {
				t.Errorf("claimed %q, want %q; %s", got, test.claimed, w.story("w1"))
			}
			if test.reason == "" {
				return
			}
			w.expect("w1", infrav1.MachineReadyCondition, metav1.ConditionFalse, test.reason)
			if m := conditions.GetMessage(w.get("w1"), infrav1.MachineReadyCondition); !strings.Contains(m, test.says) {
				t.Errorf("message: %s", m)
			}
		})
	}
}

func TestAControlPlaneIsSpreadOverZones(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *simulator.Config) {
		c.Zones = []simulator.Zone{{Name: "z1"}, {Name: "z2"}, {Name: "z3"}}
		c.Machines = nil
		// The zones' machines differ in size, so that waste alone would choose all three from z1.
		for zone, cores := range map[string]int{"z1": 4, "z2": 8, "z3": 16} {
			for _, n := range []string{"a", "b", "c"} {
				c.Machines = append(c.Machines, simulator.Machine{Hostname: zone + n, Zone: zone, Cores: cores})
			}
		}
	})
	zones := map[string]bool{}
	for _, name := range []string{"cp1", "cp2", "cp3"} {
		w.add(name, true)
		w.until(name, w.provisioned(name))
		zones[w.get(name).Status.FailureDomain] = true
	}
	if len(zones) != 3 {
		t.Errorf("the control plane is in %v", zones)
	}
}

func TestAMachineCostsMAASFewRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("w1", false)
	w.until("w1", func() bool { return w.get("w1").Status.MachineState == "Deploying" })
	asked := map[string]int{}
	for _, r := range w.region.Requests() {
		asked[r.Method+" "+r.Op+" "+r.Path]++
	}
	// Who we are, what is free, whether the claim has a machine; then the three acts.
	if n := len(w.region.Requests()); n > 6 {
		t.Errorf("%d requests from nothing to Deploying: %v", n, asked)
	}
}
