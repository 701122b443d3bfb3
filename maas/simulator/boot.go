package simulator

import "context"

// Booter starts and stops what the region deployed. The region calls it
// without holding its lock, so it may use the region's API and metadata
// service. With a virtual clock it is called from Advance.
type Booter interface {
	// Boot starts the installed system of a machine: after a deploy, and when
	// the power of a deployed machine comes back. It returns once the start is
	// under way; the machine counts as Deployed when it fetches its user data.
	// An error fails the deploy. ctx ends when the machine is released or the
	// region closes.
	Boot(ctx context.Context, m BootMachine) error
	// Halt stops a machine and forgets its disk if wipe is set. Halting what
	// does not run is no error.
	Halt(ctx context.Context, systemID string, wipe bool) error
}

// BootMachine is what a machine knows when it boots.
type BootMachine struct {
	SystemID string
	Hostname string
	Domain   string
	Image    string // as deployed, osystem/series: "ubuntu/jammy", "custom/foo"
	// ImageFile is where Config.ImageDir has what was uploaded for the image,
	// and ImageSHA256 its checksum. Both are empty for images that were not
	// uploaded; the file is also when there is no ImageDir. It is kept until no
	// machine is deployed with it and no image has it any more.
	ImageFile    string
	ImageSHA256  string
	Architecture string
	Cores        int
	MemoryMiB    int
	Interface    BootInterface
	Nameservers  []string
	// SearchDomains starts with the machine's own domain.
	SearchDomains []string
	// MetadataURL is the data source's URL (…/MAAS/metadata/); the keys are the
	// machine's own OAuth token for it.
	MetadataURL string
	ConsumerKey string
	TokenKey    string
	TokenSecret string
}

// BootInterface is the network interface a machine boots from.
type BootInterface struct {
	Name    string
	MAC     string
	Address string // CIDR notation: 10.20.0.17/21
	Gateway string
}
