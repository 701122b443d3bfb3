package simulator

import (
	"slices"
	"time"
)

// Moment is a point at which hardware, a rack or a worker of MAAS's has its
// part in a machine's life, and may fail.
type Moment string

// The moments, in the order of a machine's life.
const (
	// MomentImage is when MAAS 3.4 and older look whether a rack has the image of
	// a deploy. To fail is to have it on the region only; with a text that says
	// "ephemeral" it is what installs the image that is not there.
	MomentImage Moment = "image"
	// MomentAddressCheck is when a rack looks whether the addresses of a deploy
	// are in use.
	MomentAddressCheck Moment = "address-check"
	// MomentWorkflow is when MAAS 3.6 and newer start the workflow of a deploy. One
	// that is stuck was started, and no worker takes it up.
	MomentWorkflow Moment = "workflow"
	// MomentRack is when a rack is looked for that reaches a machine's BMC, before
	// each order to it. To fail is to have none connected. A deploy looks once,
	// before its images are checked in MAAS 3.4 and before it commits since 3.6.
	MomentRack Moment = "rack"
	// MomentPowerOn, MomentPowerOff and MomentPowerQuery are orders to the BMC.
	MomentPowerOn    Moment = "power-on"
	MomentPowerOff   Moment = "power-off"
	MomentPowerQuery Moment = "power-query"
	// MomentInstall is the installation of an image, asked when it begins.
	MomentInstall Moment = "install"
	// MomentBoot is the start of the installed system, until it asks for its user
	// data. Fail fails the deploy; of a deployed machine that is switched on again
	// nobody notices that it does not come up. When it is stuck or fails, the
	// Booter is not asked.
	MomentBoot Moment = "boot"
	// MomentErase is the wiping of disks, MomentRelease what follows when a machine
	// that is released is off.
	MomentErase   Moment = "erase"
	MomentRelease Moment = "release"
	// MomentCommission and MomentTest are these.
	MomentCommission Moment = "commission"
	MomentTest       Moment = "test"
	// MomentCompose is when a VM host makes a machine, MomentDiscover when MAAS
	// asks one what it has. Of these the event's hostname is the VM host's name,
	// and there is no system ID.
	MomentCompose  Moment = "compose"
	MomentDiscover Moment = "discover"
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
	// MAAS 3.4 tells the caller of a failed power command only when the text says
	// that another action is "already in progress".
	Fail string
	// Stuck makes it never end. What MAAS watches fails at its deadline.
	Stuck bool
	// Delay makes it take so much longer, also until it fails.
	Delay time.Duration
}

// SetHardware replaces Config.Hardware; nil removes it. What AddHardware added
// stays.
func (r *Region) SetHardware(f func(HardwareEvent) Trouble) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hardware = f
}

// AddHardware adds what is asked after Config.Hardware at each Moment, in the
// order in which it was added: the first Trouble that is not zero counts, and
// the others are not asked. Like Config.Hardware it is called with the region
// locked. Calling remove again does nothing.
func (r *Region) AddHardware(f func(HardwareEvent) Trouble) (remove func()) {
	return addHook(r, &r.addedHardware, f)
}

// ask finds out what goes wrong with a machine at a moment.
func (t *tx) ask(m *machine, at Moment) Trouble {
	r := t.r
	if r.hardware == nil && len(r.addedHardware) == 0 {
		return Trouble{}
	}
	return r.trouble(HardwareEvent{
		Moment: at, SystemID: m.systemID, Hostname: m.hostname, Zone: t.zones.rows[m.zone].name, Pool: t.pools.rows[m.pool].name,
		Tags: slices.Clone(m.tags),
	})
}

// trouble is the first that somebody has for an event.
func (r *Region) trouble(e HardwareEvent) Trouble {
	if r.hardware != nil {
		if trouble := r.hardware(e); trouble != (Trouble{}) {
			return trouble
		}
	}
	for _, f := range r.addedHardware {
		if trouble := (*f)(e); trouble != (Trouble{}) {
			return trouble
		}
	}
	return Trouble{}
}
