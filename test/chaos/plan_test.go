package chaos

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// plan is what a seed draws before anything happens.
type plan struct {
	version  string
	admin    bool // our key is an administrator's
	zones    []string
	clusters []clusterPlan
	machines int
	moves    bool // there is a second management cluster
	lasts    time.Duration
}

// clusterPlan is what a cluster looks like.
type clusterPlan struct {
	controlPlanes, workers int
	managed                bool // its endpoint is a record in MAAS
	reports                bool // Cluster API says which API servers are well
	zones                  []string
	workerZone             string
	erase                  infrav1.Erase
	deployTimeout          time.Duration
	deployAttempts         int32
}

func (p clusterPlan) String() string {
	return fmt.Sprintf("%d+%d machines, managed %t, reports %t, zones %v, workers in %q, erase %q, %s, %d attempts",
		p.controlPlanes, p.workers, p.managed, p.reports, p.zones, p.workerZone, p.erase, p.deployTimeout, p.deployAttempts)
}

// drawPlan draws it.
func drawPlan(d dice) plan {
	p := plan{
		version: one(d, "3.3", "3.4", "3.5", "3.6", "3.7"), admin: d.chance(75), moves: d.chance(35),
		zones: []string{"default", "z1", "z2"}[:d.number(1, 3)], lasts: d.between(30*time.Minute, 90*time.Minute),
	}
	for range pick(d, []weighted[int]{{5, 1}, {3, 2}, {1, 3}}) {
		c := clusterPlan{
			controlPlanes: pick(d, []weighted[int]{{3, 1}, {2, 3}}), workers: d.number(0, 3), managed: p.admin && d.chance(80), reports: d.chance(60),
			erase: one(d, "", infrav1.EraseNone, infrav1.EraseQuick, infrav1.EraseSecure, infrav1.EraseFull), workerZone: one(d, "", one(d, p.zones...)),
			deployTimeout: pick(d, []weighted[time.Duration]{{2, 0}, {3, 20 * time.Minute}}), deployAttempts: one[int32](d, 0, 1, 2),
		}
		if d.chance(50) {
			c.zones = p.zones
		}
		p.machines += c.controlPlanes + c.workers + 1
		p.clusters = append(p.clusters, c)
	}
	p.machines += d.number(1, 4)
	return p
}

// spec is that of the MaasMachines of a role.
func (p clusterPlan) spec(r role) infrav1.MaasMachineSpec {
	spec := infrav1.MaasMachineSpec{Image: "custom/u-2404", DeployAttempts: p.deployAttempts, Release: infrav1.ReleasePolicy{Erase: p.erase}}
	if p.deployTimeout > 0 {
		spec.DeployTimeout = &metav1.Duration{Duration: p.deployTimeout}
	}
	if r == worker {
		spec.FailureDomain = p.workerZone
	}
	return spec
}

const (
	ourUser   = "capmaas"
	ourKey    = "kkkkkkkkkkkkkkkkk1:tttttttttttttttttt:sssssssssssssssssssssssssssssss1"
	otherUser = "alice"
)

// region is the MAAS of the plan. Two of its machines are strangers'.
func (p plan) region(seed uint64, clock simulator.Clock, d dice) simulator.Config {
	deployed, allocated := simulator.StatusDeployed, simulator.StatusAllocated
	cfg := simulator.Config{
		Version: p.version, Clock: clock, Seed: int64(seed), PublicURL: "http://maas.example.com/MAAS",
		Users:  []simulator.User{{Name: "root", APIKey: "r:o:ot", Admin: true}, {Name: ourUser, APIKey: ourKey, Admin: p.admin}, {Name: otherUser, APIKey: "a:b:c"}},
		Images: []simulator.Image{{Name: "ubuntu/jammy"}, {Name: "custom/u-2404"}},
		Machines: []simulator.Machine{
			{Hostname: "hers", SystemID: "sssss1", Status: &deployed, PowerState: "on"},
			{Hostname: "by-hand", SystemID: "sssss2", Status: &allocated},
		},
		Durations: simulator.Durations{
			Install: d.between(time.Minute, 4*time.Minute), Boot: d.between(10*time.Second, time.Minute), PowerOn: 5 * time.Second, PowerOff: 15 * time.Second,
			Erase: d.between(time.Minute, 10*time.Minute), DeployTimeout: 30 * time.Minute, Test: time.Minute, Commission: time.Minute,
		},
	}
	for _, zone := range p.zones[1:] {
		cfg.Zones = append(cfg.Zones, simulator.Zone{Name: zone})
	}
	for n := range p.machines {
		cfg.Machines = append(cfg.Machines, simulator.Machine{
			Hostname: "node" + number(n), SystemID: "mmmm" + fmt.Sprintf("%02d", n), Zone: p.zones[n%len(p.zones)],
		})
	}
	return cfg
}
