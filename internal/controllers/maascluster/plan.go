package maascluster

import (
	"cmp"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
)

// A step is the one thing to do next.
type step interface{ isStep() }

type (
	// waitForOwner: no Cluster owns the object yet.
	waitForOwner struct{}
	// waitForHost: the endpoint is the user's, who has not said it yet.
	waitForHost struct{}
	// writeChoice writes down what was chosen, before anything is made.
	writeChoice struct {
		kind        infrav1.EndpointKind
		host        string // "" where a name is still to be drawn
		port        int32
		needsToken  bool
		needsSuffix bool
	}
	// publish makes and keeps the DNS record.
	publish struct{}
	// useExternal: the user's address is known, and there is nothing to do.
	useExternal struct{}
	// waitForMachines: the object is being deleted, and its cluster's machines are not gone.
	waitForMachines struct{ names []string }
	// removeRecord removes the DNS record and then lets the object go.
	removeRecord struct{}
	// letGo lets the object go; there is nothing of ours in MAAS, or another management cluster cares for it.
	letGo struct{}
)

func (waitForOwner) isStep()    {}
func (waitForHost) isStep()     {}
func (writeChoice) isStep()     {}
func (publish) isStep()         {}
func (useExternal) isStep()     {}
func (waitForMachines) isStep() {}
func (removeRecord) isStep()    {}
func (letGo) isStep()           {}

// plan decides the next step.
func plan(f facts) step {
	if f.deleting {
		return planDeletion(f)
	}
	if !f.owned {
		return waitForOwner{}
	}
	choice, complete := choose(f)
	if !complete {
		return waitForHost{}
	}
	if choice.needsSuffix || choice.needsToken || choice.kind != f.storedKind || choice.host != f.host || choice.port != f.port {
		return choice
	}
	if choice.kind == infrav1.EndpointExternal {
		return useExternal{}
	}
	return publish{}
}

// planDeletion needs neither the Cluster nor its machines' objects: what is not there does not hold it up.
func planDeletion(f facts) step {
	switch {
	case f.moved:
		return letGo{}
	case len(f.machines) > 0:
		return waitForMachines{names: f.machines}
	case f.kind == infrav1.EndpointMaasDNS && f.host != "" && f.token != "":
		return removeRecord{}
	}
	return letGo{}
}

// choose says what the spec has to hold. It is not complete while a user's address is missing.
func choose(f facts) (choice writeChoice, complete bool) {
	choice = writeChoice{kind: f.kind, host: f.host, port: f.port}
	// An address that the user gave to the Cluster is the user's, if nobody gave one to us.
	if f.storedKind == "" && f.host == "" && f.clusterHost != "" {
		choice.kind = infrav1.EndpointExternal
	}
	if choice.kind == infrav1.EndpointExternal {
		if choice.host == "" {
			choice.host, choice.port = f.clusterHost, cmp.Or(choice.port, f.clusterPort)
		}
		if choice.host == "" {
			return choice, false
		}
	}
	choice.port = cmp.Or(choice.port, f.apiPort, endpoint.DefaultPort)
	if choice.kind == infrav1.EndpointMaasDNS {
		choice.needsSuffix = choice.host == ""
		choice.needsToken = f.token == ""
	}
	return choice, true
}
