package simulator

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Status is a machine's state, with MAAS's numbers.
type Status int

// The states of a machine, with the numbers that MAAS gives them.
const (
	StatusNew Status = iota
	StatusCommissioning
	StatusFailedCommissioning
	StatusMissing
	StatusReady
	StatusReserved
	StatusDeployed
	StatusRetired
	StatusBroken
	StatusDeploying
	StatusAllocated
	StatusFailedDeployment
	StatusReleasing
	StatusFailedReleasing
	StatusDiskErasing
	StatusFailedDiskErasing
	StatusRescueMode
	StatusEnteringRescueMode
	StatusFailedEnteringRescueMode
	StatusExitingRescueMode
	StatusFailedExitingRescueMode
	StatusTesting
	StatusFailedTesting
)

// statusNames holds, by number, the name in the JSON and the name in filters.
func statusNames() [23][2]string {
	return [...][2]string{
		{"New", "new"},
		{"Commissioning", "commissioning"},
		{"Failed commissioning", "failed_commissioning"},
		{"Missing", "missing"},
		{"Ready", "ready"},
		{"Reserved", "reserved"},
		{"Deployed", "deployed"},
		{"Retired", "retired"},
		{"Broken", "broken"},
		{"Deploying", "deploying"},
		{"Allocated", "allocated"},
		{"Failed deployment", "failed_deployment"},
		{"Releasing", "releasing"},
		{"Releasing failed", "failed_releasing"},
		{"Disk erasing", "disk_erasing"},
		{"Failed disk erasing", "failed_disk_erasing"},
		{"Rescue mode", "rescue_mode"},
		{"Entering rescue mode", "entering_rescue_mode"},
		{"Failed to enter rescue mode", "failed_entering_rescue_mode"},
		{"Exiting rescue mode", "exiting_rescue_mode"},
		{"Failed to exit rescue mode", "failed_exiting_rescue_mode"},
		{"Testing", "testing"},
		{"Failed testing", "failed_testing"},
	}
}

// String is MAAS's status_name.
func (s Status) String() string {
	if s < 0 || s > StatusFailedTesting {
		return fmt.Sprintf("Status(%d)", int(s))
	}
	return statusNames()[s][0]
}

// statusOfFilter finds the state with a filter's name, such as "ready".
func statusOfFilter(name string) (Status, bool) {
	all := statusNames()
	for n, names := range all {
		if names[1] == name {
			return Status(n), true
		}
	}
	return 0, false
}

// UnmarshalJSON reads a number or a name such as "failed_deployment".
func (s *Status) UnmarshalJSON(b []byte) error {
	var n int
	if json.Unmarshal(b, &n) == nil && n >= 0 && n <= int(StatusFailedTesting) {
		*s = Status(n)
		return nil
	}
	var name string
	if json.Unmarshal(b, &name) == nil {
		if found, ok := statusOfFilter(name); ok {
			*s = found
			return nil
		}
	}
	return fmt.Errorf("no such machine status: %s", b)
}

func (s Status) in(set ...Status) bool { return slices.Contains(set, s) }

// remembersPrevious says that a machine comes back from a state to the one it
// was in before.
func (s Status) remembersPrevious() bool {
	return s.in(StatusBroken, StatusTesting, StatusFailedTesting, StatusRescueMode, StatusEnteringRescueMode, StatusFailedEnteringRescueMode,
		StatusExitingRescueMode, StatusFailedExitingRescueMode)
}
