package simulator

import (
	"fmt"
	"strings"
)

// recordedHost is the VM host that the recordings' fixtures made.
func recordedHost(id int) *vmHost {
	return &vmHost{
		id: id, name: "lxd1", kind: "lxd", zone: 1, cpuRatio: 1, memRatio: 1, hintCores: 32, hintMemory: 131072,
		parameters: map[string]string{"power_address": "https://10.9.9.9:8443", "certificate": "C", "key": "K", "project": "maas"},
		known: hostResources{
			cores: 32, memoryMiB: 131072, localStorage: 1e12, architectures: []string{"amd64/generic"},
			pools: []storagePool{{name: "default", kind: "dir", path: "/x", size: 1e12, main: true}},
		},
	}
}

// vmHostBefore makes the hosts that the recordings ask for, and what fails
// there.
func vmHostBefore(w *world, ex *exchange) {
	hosts := w.region.state.vmHosts
	switch ex.Name {
	case "vm-hosts.list.one":
		// Nothing had looked at it, and its totals were there all the same.
		h := recordedHost(7)
		h.hintCores, h.hintMemory, h.known.architectures, h.known.pools = 0, 0, nil, nil
		hosts.put(7, h)
	case "compose.pod-fails":
		hosts.remove(7)
		hosts.put(3, recordedHost(3))
		w.add(Machine{Hostname: "taken-1"})
	}
	fails := map[string]struct {
		at   Moment
		with string
	}{"compose.pod-fails": {MomentCompose, "boom"}, "compose.no-rack": {MomentRack, "none"}, "vm-host.refresh-fails": {MomentDiscover, "DiscoverPod"}}
	w.mend()
	w.mend = w.region.AddHardware(func(e HardwareEvent) Trouble {
		if fail := fails[ex.Name]; fail.at == e.Moment {
			return Trouble{Fail: fail.with}
		}
		return Trouble{}
	})
}

// silentMade makes the world in which allocates compose: a host with room that
// fails each time, and counts.
func silentMade(w *world) {
	w.region.state.vmHosts.put(3, recordedHost(3))
	w.region.AddHardware(func(e HardwareEvent) Trouble {
		if e.Moment != MomentCompose {
			return Trouble{}
		}
		w.composes++
		return Trouble{Fail: "boom"}
	})
}

// checkComposes compares how often a host was asked for a machine.
func (w *world) checkComposes(ex *exchange) {
	w.t.Helper()
	var want int
	if !strings.HasPrefix(ex.Note, "compose calls") {
		return
	}
	if _, err := fmt.Sscanf(ex.Note, "compose calls sent to the rack so far: %d", &want); err != nil {
		w.t.Fatal(err)
	}
	if w.composes != want {
		w.t.Errorf("%s: %d composes so far, want %d", ex.Name, w.composes, want)
	}
}

// interfaceBefore makes the machines whose interfaces are linked, with the
// recordings' numbers.
func interfaceBefore(w *world, ex *exchange) {
	s := w.region.state
	switch ex.Name {
	case "iface.list":
		s.lastNIC, s.addresses.last = 3, 7
		w.add(Machine{Hostname: "if-0", SystemID: "by43da"})
		w.force("by43da", fixture{status: StatusDeployed, owner: "admin", known: true})
		w.add(Machine{Hostname: "if-1", SystemID: "nn3866"})
	case "iface.link.static":
		s.addresses.last = 36
	}
}
