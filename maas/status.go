package maas

import "strconv"

// Status is the state of a machine as MAAS numbers it. MAAS 2.9 to 3.7: numbers and names are the same in all.
type Status int

// The states of a machine.
const (
	StatusNew                      Status = 0
	StatusCommissioning            Status = 1
	StatusFailedCommissioning      Status = 2
	StatusMissing                  Status = 3
	StatusReady                    Status = 4
	StatusReserved                 Status = 5
	StatusDeployed                 Status = 6
	StatusRetired                  Status = 7
	StatusBroken                   Status = 8
	StatusDeploying                Status = 9
	StatusAllocated                Status = 10
	StatusFailedDeployment         Status = 11
	StatusReleasing                Status = 12
	StatusFailedReleasing          Status = 13
	StatusDiskErasing              Status = 14
	StatusFailedDiskErasing        Status = 15
	StatusRescueMode               Status = 16
	StatusEnteringRescueMode       Status = 17
	StatusFailedEnteringRescueMode Status = 18
	StatusExitingRescueMode        Status = 19
	StatusFailedExitingRescueMode  Status = 20
	StatusTesting                  Status = 21
	StatusFailedTesting            Status = 22
	numberOfStatuses                      = 23
)

// String returns the name that MAAS shows, such as "Failed deployment" ("Releasing failed" is MAAS's own word order).
func (s Status) String() string {
	if label, _ := s.names(); label != "" {
		return label
	}
	return "Status " + strconv.Itoa(int(s))
}

// FilterName returns the name by which lists are filtered, such as "failed_deployment"; "" for a number MAAS does not have.
func (s Status) FilterName() string {
	_, filter := s.names()
	return filter
}

// AllStatuses returns every status MAAS has, in MAAS's numbering.
func AllStatuses() []Status {
	all := make([]Status, numberOfStatuses)
	for i := range all {
		all[i] = Status(i)
	}
	return all
}

func (s Status) names() (label, filter string) {
	table := [numberOfStatuses]struct{ label, filter string }{
		StatusNew:                      {"New", "new"},
		StatusCommissioning:            {"Commissioning", "commissioning"},
		StatusFailedCommissioning:      {"Failed commissioning", "failed_commissioning"},
		StatusMissing:                  {"Missing", "missing"},
		StatusReady:                    {"Ready", "ready"},
		StatusReserved:                 {"Reserved", "reserved"},
		StatusDeployed:                 {"Deployed", "deployed"},
		StatusRetired:                  {"Retired", "retired"},
		StatusBroken:                   {"Broken", "broken"},
		StatusDeploying:                {"Deploying", "deploying"},
		StatusAllocated:                {"Allocated", "allocated"},
		StatusFailedDeployment:         {"Failed deployment", "failed_deployment"},
		StatusReleasing:                {"Releasing", "releasing"},
		StatusFailedReleasing:          {"Releasing failed", "failed_releasing"},
		StatusDiskErasing:              {"Disk erasing", "disk_erasing"},
		StatusFailedDiskErasing:        {"Failed disk erasing", "failed_disk_erasing"},
		StatusRescueMode:               {"Rescue mode", "rescue_mode"},
		StatusEnteringRescueMode:       {"Entering rescue mode", "entering_rescue_mode"},
		StatusFailedEnteringRescueMode: {"Failed to enter rescue mode", "failed_entering_rescue_mode"},
		StatusExitingRescueMode:        {"Exiting rescue mode", "exiting_rescue_mode"},
		StatusFailedExitingRescueMode:  {"Failed to exit rescue mode", "failed_exiting_rescue_mode"},
		StatusTesting:                  {"Testing", "testing"},
		StatusFailedTesting:            {"Failed testing", "failed_testing"},
	}
	if s < 0 || s >= numberOfStatuses {
		return "", ""
	}
	return table[s].label, table[s].filter
}

// PowerState is what MAAS last knew of a machine's power. It is polled (about every 5 minutes) and may lag.
type PowerState string

// The power states of MAAS.
const (
	PowerOn      PowerState = "on"
	PowerOff     PowerState = "off"
	PowerUnknown PowerState = "unknown"
	PowerError   PowerState = "error"
)
