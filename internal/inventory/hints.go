package inventory

import (
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// hint is what an event says about what we hold of a machine. A wrong one costs one read, and a missed one is made up for by the
// rounds.
type hint int

const (
	// noHint is for what changes nothing that we show, and for the progress of an installation.
	noHint hint = iota
	// soonHint is for what was asked of a machine and shows only later: it is read in one of the next batches.
	soonHint
	// changeHint is for what changed: what we hold proves nothing any more.
	changeHint
)

// judge says what one type of event means for a machine as we hold it; nil means that we hold nothing.
type judge func(held *maas.Machine, description string) hint

// statusChange is the type of the event that MAAS writes, at level DEBUG, for each change of a machine's status.
const statusChange = "Node changed status"

// meaning is the table of MAAS's event types, by the name under which the API shows them. Types that are not in it are no hints.
//
// MAAS 3.2 and newer: polling the power of a machine leaves no event, and "Node powered on" tells of power that MAAS itself
// switched. Older ones log each poll ("Queried node's BMC"). That a machine was deleted, or that its zone, pool or tags changed, is
// told at level AUDIT alone, which is asked for by itself: the rounds see it.
func meaning(eventType string) judge {
	switch eventType {
	case statusChange:
		return always

	// Their change of status is logged too, but in a busy MAAS one of two entries may be committed after later ones were read.
	case "User acquiring node":
		return unlessStatus(maas.StatusAllocated)
	case "Deploying":
		return unlessStatus(maas.StatusDeploying)
	case "Deployed":
		return unlessStatus(maas.StatusDeployed)
	case "Aborted deployment":
		return onlyStatus(maas.StatusDeploying)
	case "Releasing":
		return unlessStatus(maas.StatusReleasing)
	case "Released", "Ready":
		return unlessStatus(maas.StatusReady)
	case "Commissioning":
		return unlessStatus(maas.StatusCommissioning)
	case "Failed commissioning":
		return unlessStatus(maas.StatusFailedCommissioning)
	case "Testing":
		return unlessStatus(maas.StatusTesting)
	case "Failed testing":
		return unlessStatus(maas.StatusFailedTesting)
	case "Entering rescue mode":
		return unlessStatus(maas.StatusEnteringRescueMode)
	case "Rescue mode":
		return unlessStatus(maas.StatusRescueMode)
	case "Exited rescue mode":
		return onlyStatus(maas.StatusExitingRescueMode)

	// They say why, in the machine's error description.
	case "Marking node failed", "Marking node broken", "Marking node fixed",
		"User marking node failed", "User marking node broken", "User marking node fixed":
		return always

	case "User locking node":
		return unlessLocked(true)
	case "User unlocking node":
		return unlessLocked(false)

	case "Node powered on":
		return unlessPower(maas.PowerOn)
	case "Node powered off":
		return unlessPower(maas.PowerOff)
	case "Queried node's BMC":
		return unlessPowerQueried
	case "Failed to power on node", "Failed to power off node", "Failed to power cycle node", "Failed to query node's BMC":
		return unlessPower(maas.PowerError, maas.PowerUnknown)
	case "User powering up node", "Powering on", "User powering down node", "Powering off":
		return soon

	// The machine reports other addresses than it had.
	case "Node Interface hardware sync state change":
		return soon
	}
	return func(*maas.Machine, string) hint { return noHint }
}

func always(*maas.Machine, string) hint { return changeHint }

func soon(*maas.Machine, string) hint { return soonHint }

// changedStatus says whether an event tells of another status: "From 'Ready' to 'Allocated' (to capi)".
func changedStatus(e maas.Event) bool { return e.Type == statusChange }

// isAboutFree says whether a change of status makes a machine free, or not free any more.
func isAboutFree(e maas.Event) bool {
	return strings.Contains(e.Description, "'"+maas.StatusReady.String()+"'")
}

func becameFree(e maas.Event) bool {
	return strings.Contains(e.Description, "to '"+maas.StatusReady.String()+"'")
}

func unlessStatus(status maas.Status) judge {
	return func(held *maas.Machine, _ string) hint { return changeIf(held != nil && held.Status != status) }
}

func onlyStatus(status maas.Status) judge {
	return func(held *maas.Machine, _ string) hint { return changeIf(held != nil && held.Status == status) }
}

func unlessLocked(locked bool) judge {
	return func(held *maas.Machine, _ string) hint { return changeIf(held != nil && held.Locked != locked) }
}

func unlessPower(states ...maas.PowerState) judge {
	return func(held *maas.Machine, _ string) hint {
		for _, state := range states {
			if held == nil || held.PowerState == state {
				return noHint
			}
		}
		return changeHint
	}
}

// unlessPowerQueried reads "Power state queried: on".
func unlessPowerQueried(held *maas.Machine, description string) hint {
	_, state, found := strings.Cut(description, ": ")
	return changeIf(held != nil && found && string(held.PowerState) != strings.TrimSpace(state))
}

func changeIf(changed bool) hint {
	if changed {
		return changeHint
	}
	return noHint
}
