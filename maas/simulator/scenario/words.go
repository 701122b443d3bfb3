package scenario

import (
	"slices"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// Do is what a fault does.
type Do string

// What happens to requests.
const (
	DropAnswer Do = "drop-answer"
	Fail       Do = "fail"
	Hang       Do = "hang"
	Slow       Do = "slow"
	Reset      Do = "reset"
	Stale      Do = "stale"
)

// What hardware and those who drive it do.
const (
	FailDeployment    Do = "fail-deployment"
	StickDeployment   Do = "stick-deployment"
	NoUserData        Do = "no-user-data"
	FailPowerOn       Do = "fail-power-on"
	FailPowerOff      Do = "fail-power-off"
	FailPowerQuery    Do = "fail-power-query"
	FailErase         Do = "fail-erase"
	FailRelease       Do = "fail-release"
	StickRelease      Do = "stick-release"
	FailCommissioning Do = "fail-commissioning"
	FailTesting       Do = "fail-testing"
	FailAddressCheck  Do = "fail-address-check"
	FailWorkflow      Do = "fail-workflow"
	NoRack            Do = "no-rack"
	NoImage           Do = "no-image"
)

// What operators do to a machine.
const (
	Take     Do = "take"
	Release  Do = "release"
	Delete   Do = "delete"
	Lock     Do = "lock"
	Unlock   Do = "unlock"
	Break    Do = "break"
	Rename   Do = "rename"
	Rezone   Do = "rezone"
	Repool   Do = "repool"
	Redeploy Do = "redeploy"
	PowerOff Do = "power-off"
	PowerOn  Do = "power-on"
)

// What befalls the region for a while.
const (
	AwayRegion       Do = "away"
	ExhaustAddresses Do = "exhaust-addresses"
	OldDNS           Do = "old-dns"
	LoseEvents       Do = "lose-events"
)

// Group says what the words of a kind strike.
type Group string

// The groups of words.
const (
	// OnRequests are faults of requests that On selects.
	OnRequests Group = "requests"
	// OnHardware are faults of hardware at a moment of a machine's life.
	OnHardware Group = "hardware"
	// ByOperators are acts: before a request that On selects, after it with
	// Committed, and without On at the times that After and Every give.
	ByOperators Group = "operators"
	// OnRegion are states of the whole region that last.
	OnRegion Group = "region"
)

// Word is something that a fault can do.
type Word struct {
	Do     Do
	Group  Group
	Effect string
	// Fields are those of a Fault that it takes beside Name, Do, After, For,
	// Every, Skip, Count and Probability.
	Fields []string

	moment simulator.Moment // of hardware faults
	stuck  bool             // never ends, instead of failing
	reason string           // when the fault gives none
	needs  []string         // of Fields
}

// Words are all that a fault can do.
func Words() []Word {
	return slices.Concat(requestWords(), hardwareWords(), operatorWords(), regionWords())
}

func wordOf(do Do) (Word, bool) {
	words := Words()
	if n := slices.IndexFunc(words, func(w Word) bool { return w.Do == do }); n >= 0 {
		return words[n], true
	}
	return Word{}, false
}

func requestWords() []Word {
	word := func(do Do, effect string, needs []string, fields ...string) Word {
		return Word{
			Do: do, Group: OnRequests, Effect: effect, needs: needs,
			Fields: slices.Concat([]string{"on", "machine", "user"}, needs, fields),
		}
	}
	return []Word{
		word(DropAnswer, "the request is carried out, and the connection closed without an answer", nil),
		word(Fail, "the request is answered with an error; with committed it was carried out all the same", nil,
			"answer", "status", "body", "headers", "committed"),
		word(Hang, "the request is never answered, and the connection stays open; with committed it was carried out", nil, "committed"),
		word(Slow, "the request waits before it is carried out", []string{"delay"}),
		word(Reset, "the connection is reset; with committed the request was carried out", nil, "committed"),
		word(Stale, "reads show the region as it was, from when the fault began and then up to age ago", []string{"age"}),
	}
}

func hardwareWords() []Word {
	word := func(do Do, moment simulator.Moment, effect, reason string) Word {
		return Word{Do: do, Group: OnHardware, Effect: effect, Fields: []string{"machine", "reason", "delay"}, moment: moment, reason: reason}
	}
	stuck := func(do Do, moment simulator.Moment, effect string) Word {
		return Word{Do: do, Group: OnHardware, Effect: effect, Fields: []string{"machine"}, moment: moment, stuck: true}
	}
	const bmc = "Could not contact node's BMC: timed out"
	return []Word{
		word(FailDeployment, simulator.MomentInstall, "the installation fails", "Installation failed (refer to the installation log for more information)."),
		stuck(StickDeployment, simulator.MomentInstall, "the installation never ends; MAAS fails the deploy at its timeout, if the region has one"),
		stuck(NoUserData, simulator.MomentBoot, "the installed system never asks for its user data, so its machine stays Deploying until MAAS's timeout, if the region has one"),
		word(FailPowerOn, simulator.MomentPowerOn, "the machine cannot be switched on", bmc),
		word(FailPowerOff, simulator.MomentPowerOff, "the machine cannot be switched off", bmc),
		word(FailPowerQuery, simulator.MomentPowerQuery, "the machine's power cannot be asked for", bmc),
		word(FailErase, simulator.MomentErase, "wiping the disks fails", "Failed to erase disks."),
		word(FailRelease, simulator.MomentRelease, "releasing fails", "Failed to release the machine."),
		stuck(StickRelease, simulator.MomentRelease, "releasing does not end, until MAAS fails it after 5 minutes"),
		word(FailCommissioning, simulator.MomentCommission, "commissioning fails", "Commissioning failed."),
		word(FailTesting, simulator.MomentTest, "testing fails", "Testing failed."),
		word(FailAddressCheck, simulator.MomentAddressCheck, "the check fails whether the addresses of a deploy are free", "IP address checks failed after 2 retries."),
		word(FailWorkflow, simulator.MomentWorkflow, "the workflow of a deploy does not start (MAAS 3.6 and newer)", "workflow engine unavailable"),
		word(NoRack, simulator.MomentRack, "no rack is connected that reaches the machine's BMC", "no connections available"),
		word(NoImage, simulator.MomentImage, "no rack has the image of a deploy (MAAS 3.4 and older)", "not on the rack"),
	}
}

func operatorWords() []Word {
	word := func(do Do, effect string, needs []string, fields ...string) Word {
		return Word{
			Do: do, Group: ByOperators, Effect: effect, needs: needs,
			Fields: slices.Concat([]string{"on", "machine", "user", "committed"}, needs, fields),
		}
	}
	to := []string{"to"}
	return []Word{
		word(Take, "the machine is released, whatever its state, and allocated to the user to, or operator, who is made if he is not there", nil, "to"),
		word(Release, "the machine is released, whatever its owner and lock", nil),
		word(Delete, "the machine is deleted", nil),
		word(Lock, "the machine is locked", nil),
		word(Unlock, "the machine is unlocked", nil),
		word(Break, "the machine is marked broken", nil, "reason"),
		word(Rename, "the machine's hostname becomes to, in which * stands for the present one", to),
		word(Rezone, "the machine moves to the zone to", to),
		word(Repool, "the machine moves to the pool to", to),
		word(Redeploy, "the machine is taken like that, and deployed with image", nil, "to", "image"),
		word(PowerOff, "the machine loses its power, and MAAS sees it", nil),
		word(PowerOn, "the machine is switched on beside MAAS, which sees it; a deployed one boots", nil),
	}
}

func regionWords() []Word {
	word := func(do Do, effect string, fields ...string) Word {
		return Word{Do: do, Group: OnRegion, Effect: effect, Fields: fields}
	}
	return []Word{
		word(AwayRegion, "every connection to the region is reset, or answered by its proxy with answer: bad-gateway; DNS goes on", "answer"),
		word(ExhaustAddresses, "no address is left, in one subnet or in all", "subnet"),
		word(OldDNS, "DNS answers as it was, from when the fault began and then, with age, up to that long ago", "age"),
		word(LoseEvents, "nothing is written to the event log"),
	}
}
