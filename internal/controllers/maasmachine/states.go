package maasmachine

import (
	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// onTheWay says what we do about a claimed machine that is not deployed yet.
type onTheWay int

const (
	deployIt   onTheWay = iota // it waits for us
	installing                 // MAAS is at it
	runs                       // it is deployed
	comesBack                  // somebody uses it for a while; it returns to where it was
	failed                     // it will never be deployed for this object
)

// givingBack says what we do about a machine that is to be given back.
type givingBack int

const (
	releaseIt      givingBack = iota // MAAS takes a release in this state
	underWay                         // wait for it
	isFree                           // nothing is left to do
	erasing                          // MAAS frees it when its disks are erased, unless that fails soon
	handedBack                       // marked broken: it was given back, unless it still runs
	waitsForPerson                   // MAAS refuses a release until somebody acts, or until what runs is over
)

// state is what one of MAAS's states means to us, in each phase of a machine's life. A machine that was deployed (phase
// keep) is well in Deployed alone; in every other state it is a failed machine, and is never deployed again.
type state struct {
	status maas.Status
	// means says it in other words.
	means string
	// claim is how far a machine found by its claim has come; the highest is adopted. Nothing is done about those below 0.
	claim int
	// deploy is what we do while the machine is not deployed yet, and reason what MachineDeployed says meanwhile.
	deploy onTheWay
	reason string
	// release is what we do to give it back, and todo what a person can do where we cannot.
	release givingBack
	todo    string
}

// states holds every state that MAAS knows. MAAS 3.3 to 3.7: what is releasable, and which state follows which.
var states = [...]state{
	{maas.StatusNew, "it was given back before it was commissioned", -1,
		failed, infrav1.MachineGivenBackReason, isFree, ""},
	{maas.StatusCommissioning, "it was given back and is being commissioned", -1,
		failed, infrav1.MachineGivenBackReason, waitsForPerson, "wait for the end of the commissioning"},
	{maas.StatusFailedCommissioning, "it was given back and its commissioning failed", -1,
		failed, infrav1.MachineGivenBackReason, waitsForPerson, "commission it again in MAAS, or delete it there"},
	{maas.StatusMissing, "MAAS cannot find the hardware", 0,
		failed, infrav1.MachineMissingReason, waitsForPerson, "commission it again in MAAS, or delete it there"},
	{maas.StatusReady, "it was given back and is free", -1,
		failed, infrav1.MachineGivenBackReason, isFree, ""},
	{maas.StatusReserved, "MAAS keeps it for a named user", 1,
		failed, infrav1.MachineReservedReason, releaseIt, ""},
	{maas.StatusDeployed, "the image runs", 5,
		runs, infrav1.MachineDeployedReason, releaseIt, ""},
	{maas.StatusRetired, "an operator retired it", 0,
		failed, infrav1.MachineRetiredReason, waitsForPerson, "put it back into service in MAAS, or delete it there"},
	{maas.StatusBroken, "it was marked broken", 0,
		failed, infrav1.MachineBrokenReason, handedBack, "switch it off in MAAS"},
	{maas.StatusDeploying, "MAAS is installing the image", 4,
		installing, infrav1.DeployingReason, releaseIt, ""},
	{maas.StatusAllocated, "it is claimed and not deployed", 2,
		deployIt, infrav1.DeployingReason, releaseIt, ""},
	{maas.StatusFailedDeployment, "the deployment failed", 3,
		failed, infrav1.DeployFailedReason, releaseIt, ""},
	{maas.StatusReleasing, "it is being released", -1,
		failed, infrav1.DeployRetryReason, underWay, ""},
	{maas.StatusFailedReleasing, "its release failed", -1,
		failed, infrav1.DeployRetryReason, releaseIt, ""},
	{maas.StatusDiskErasing, "its disks are being erased", -1,
		failed, infrav1.DeployRetryReason, erasing, ""},
	{maas.StatusFailedDiskErasing, "erasing its disks failed", -1,
		failed, infrav1.DeployRetryReason, releaseIt, ""},
	{maas.StatusRescueMode, "an operator has it in rescue mode", 1,
		comesBack, infrav1.MachineInRescueModeReason, waitsForPerson, "exit rescue mode in MAAS"},
	{maas.StatusEnteringRescueMode, "an operator puts it into rescue mode", 1,
		comesBack, infrav1.MachineInRescueModeReason, waitsForPerson, "exit rescue mode in MAAS"},
	{maas.StatusFailedEnteringRescueMode, "it could not be put into rescue mode", 1,
		comesBack, infrav1.MachineInRescueModeReason, waitsForPerson, "exit rescue mode in MAAS"},
	{maas.StatusExitingRescueMode, "it is leaving rescue mode", 1,
		comesBack, infrav1.MachineInRescueModeReason, waitsForPerson, "wait until it left rescue mode"},
	{maas.StatusFailedExitingRescueMode, "it could not leave rescue mode", 1,
		comesBack, infrav1.MachineInRescueModeReason, waitsForPerson, "exit rescue mode again in MAAS, or mark it broken"},
	{maas.StatusTesting, "an operator has it tested", 1,
		comesBack, infrav1.MachineTestingReason, waitsForPerson, "wait for the end of the test, or abort it in MAAS"},
	{maas.StatusFailedTesting, "it failed a hardware test", 0,
		failed, infrav1.MachineFailedTestingReason, waitsForPerson, "override the failed test in MAAS, or mark it broken"},
}

// isBeingReleased says that somebody began to release the machine, or that this failed.
func (s state) isBeingReleased() bool {
	return s.release == underWay || s.release == erasing || s.status == maas.StatusFailedReleasing || s.status == maas.StatusFailedDiskErasing
}

// stateOf returns the row of a machine's state. A state that MAAS invents later is one that nothing is done about.
func stateOf(m *maas.Machine) state {
	for _, s := range states {
		if s.status == m.Status {
			return s
		}
	}
	return state{status: m.Status, means: "this version of CAPMAAS does not know the state", claim: 0, deploy: comesBack,
		reason: infrav1.DeployingReason, release: waitsForPerson, todo: "bring it to another state in MAAS"}
}
