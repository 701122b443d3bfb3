package simulator

import "time"

// Moment is a point at which hardware, a rack or a worker of MAAS's has its
// part in a machine's life, and may fail.
type Moment string

// The moments, in the order of a machine's life.
const (
	// MomentAddressCheck is when a rack looks whether the addresses of a deploy
	// are in use.
	MomentAddressCheck Moment = "address-check"
	// MomentWorkflow is when MAAS 3.6 and newer start the workflow of a deploy.
	MomentWorkflow Moment = "workflow"
	// MomentRack is when a rack is looked for that reaches a machine's BMC, before
	// each order to it. To fail is to have none connected.
	MomentRack Moment = "rack"
	// MomentPowerOn, MomentPowerOff and MomentPowerQuery are orders to the BMC.
	MomentPowerOn    Moment = "power-on"
	MomentPowerOff   Moment = "power-off"
	MomentPowerQuery Moment = "power-query"
	// MomentInstall is the installation of an image.
	MomentInstall Moment = "install"
	// MomentBoot is the start of the installed system, until it asks for its user
	// data.
	MomentBoot Moment = "boot"
	// MomentErase is the wiping of disks, MomentRelease what follows it.
	MomentErase   Moment = "erase"
	MomentRelease Moment = "release"
	// MomentCommission and MomentTest are these.
	MomentCommission Moment = "commission"
	MomentTest       Moment = "test"
)

// HardwareEvent is a machine at a moment.
type HardwareEvent struct {
	Moment   Moment
	SystemID string
	Hostname string
	Zone     string
	Pool     string
	Tags     []string
}

// Trouble is what goes wrong at a moment. The zero value is none.
type Trouble struct {
	// Fail makes it fail, with this as what the driver, rack or installer said.
	Fail string
	// Stuck makes it never end.
	Stuck bool
	// Delay makes it take so much longer.
	Delay time.Duration
}

// SetHardware replaces Config.Hardware; nil removes it.
func (r *Region) SetHardware(f func(HardwareEvent) Trouble) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hardware = f
}
