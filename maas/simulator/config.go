package simulator

// Config describes a region. The zero value is a usable region with one admin
// named admin, one zone, pool, domain and subnet, and no machines.
type Config struct {
	// Version is the MAAS version to imitate, from 3.3 to 3.7, such as "3.6.4";
	// "3.6" is the newest release of that series, and empty is "3.7.3".
	Version string `json:"version,omitempty"`
	// Clock is the region's time; the real clock when nil.
	Clock Clock `json:"-"`
	// Seed makes system IDs, node tokens and serial numbers differ between
	// regions. The same seed and the same order give the same values.
	Seed int64 `json:"seed,omitempty"`
	// Users may call the API. When empty, one admin "admin" is made with the
	// key DefaultAPIKey.
	Users []User `json:"users,omitempty"`
	// Zones beside "default".
	Zones []Zone `json:"zones,omitempty"`
	// Pools beside "default".
	Pools []Pool `json:"pools,omitempty"`
	// Tags; those that machines name are made without being listed here.
	Tags []Tag `json:"tags,omitempty"`
	// Domains; "maas" is made when empty. The first is the default domain.
	Domains []Domain `json:"domains,omitempty"`
	// Subnets; one, 10.20.0.0/21, is made when empty, or for more than 2,000
	// machines 10.20.0.0/16.
	Subnets []Subnet `json:"subnets,omitempty"`
	// Images that can be deployed, complete and without content; Ubuntu jammy
	// and noble when empty. More can be uploaded through the API, for the
	// architectures of these.
	Images []Image `json:"images,omitempty"`
	// ReleaseScripts are the names of those that a release may ask for. None does
	// anything: they take as long as Durations.Test. MAAS 3.5 and newer.
	ReleaseScripts []string `json:"releaseScripts,omitempty"`
	// ImageDir is a folder for the content of images that are uploaded, one file
	// per sha256, named for it. It is made if it is not there, and not for two
	// regions at once. When empty, content is checked and dropped.
	ImageDir string `json:"imageDir,omitempty"`
	// Machines, Ready unless they say otherwise.
	Machines []Machine `json:"machines,omitempty"`
	// Inventory is machines by the number, made after Machines.
	Inventory []Group `json:"inventory,omitempty"`
	// VMHosts on which virtual machines can be composed.
	VMHosts []VMHost `json:"vmHosts,omitempty"`
	// DefaultSeries is deployed when a deploy names none: osystem/series. The
	// first Ubuntu image when empty.
	DefaultSeries string `json:"defaultSeries,omitempty"`
	// Profile sets those of Durations and Latency that are zero; none when empty.
	Profile Profile `json:"profile,omitempty"`
	// Durations of what hardware does. Zero means at once, or as Profile says.
	Durations Durations `json:"durations,omitempty"`
	// Latency is how long requests take. Zero means that they are answered at
	// once, or as Profile says.
	Latency Latency `json:"latency,omitempty"`
	// Boot starts what was deployed. When nil, timers play the machine.
	Boot Booter `json:"-"`
	// DNSAddr is where Start serves DNS over UDP and TCP (host:port); no DNS
	// server when empty.
	DNSAddr string `json:"dnsAddr,omitempty"`
	// DNSForwarder answers names outside the region's zones (host:port). When
	// empty they are refused.
	DNSForwarder string `json:"dnsForwarder,omitempty"`
	// PublicURL is how machines reach the region (http://host:port/MAAS).
	// Start fills it from the address it listens on when empty.
	PublicURL string `json:"publicURL,omitempty"`
	// TLS of a port of its own, beside the plain one.
	TLS TLS `json:"tls,omitzero"`
	// Intercept is asked about every API request before it runs; nil for none.
	// It may be called from several goroutines, and may use the region.
	// Region.SetIntercept changes it later.
	Intercept func(Request) Fault `json:"-"`
	// Hardware is asked at each Moment of a machine's life; nil for hardware that
	// never fails. It is called with the region locked, so it must not use the
	// region. Region.SetHardware changes it later.
	Hardware func(HardwareEvent) Trouble `json:"-"`
}

// DefaultAPIKey is the key of the admin that a Config without users gets.
const DefaultAPIKey = "simulator:admin:secret"

// defaultSubnet is the subnet that a Config without subnets gets. It has an
// address for each machine.
func defaultSubnet(machines int) Subnet {
	cidr := "10.20.0.0/21"
	if machines > 2000 {
		cidr = "10.20.0.0/16"
	}
	return Subnet{Name: cidr, CIDR: cidr, Gateway: "10.20.0.1", DNSServers: []string{"10.20.0.2"}}
}

// Size is how many machines Machines and Inventory make.
func (c Config) Size() int {
	n := len(c.Machines)
	for _, group := range c.Inventory {
		n += group.Count
	}
	return n
}

// User may call the API with a key.
type User struct {
	Name string `json:"name"`
	// APIKey has the form consumer:token:secret.
	APIKey string `json:"apiKey"`
	Admin  bool   `json:"admin,omitempty"`
	Email  string `json:"email,omitempty"`
	// Disabled users are refused with 403 everywhere.
	Disabled bool `json:"disabled,omitempty"`
}

// Zone is a physical availability zone.
type Zone struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// Pool is a resource pool.
type Pool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// Tag marks machines.
type Tag struct {
	Name       string `json:"name"`
	Comment    string `json:"comment,omitempty"`
	Definition string `json:"definition,omitempty"`
	KernelOpts string `json:"kernelOpts,omitempty"`
}

// Domain is a DNS zone.
type Domain struct {
	Name string `json:"name"`
	// TTL in seconds of records that have none; MAAS's default of 30 s when nil.
	TTL *int `json:"ttl,omitempty"`
	// Unserved makes the domain non-authoritative: records are kept but MAAS
	// does not answer for them.
	Unserved bool `json:"unserved,omitempty"`
}

// Subnet is an IP network on the untagged VLAN of a fabric.
type Subnet struct {
	Name       string   `json:"name,omitempty"` // the CIDR when empty
	CIDR       string   `json:"cidr"`
	Gateway    string   `json:"gateway,omitempty"`
	DNSServers []string `json:"dnsServers,omitempty"`
	// Fabric is the name of the fabric; subnets that name the same one share
	// its untagged VLAN. "fabric-<n>" when empty.
	Fabric string `json:"fabric,omitempty"`
	// Space of the VLAN; "undefined" when empty.
	Space string `json:"space,omitempty"`
	// NoDHCP says that the VLAN has no DHCP server.
	NoDHCP bool `json:"noDHCP,omitempty"`
	// Reserved holds addresses and ranges ("10.0.0.1-10.0.0.9") that machines
	// never get.
	Reserved []string `json:"reserved,omitempty"`
	// Dynamic holds addresses and ranges that the DHCP server gives out, and
	// that machines' AUTO links never get.
	Dynamic []string `json:"dynamic,omitempty"`
}

// Image is something that can be deployed.
type Image struct {
	// Name is "ubuntu/jammy" for an image of an image stream, and
	// "custom/foo" or "foo" for an uploaded one.
	Name string `json:"name"`
	// Architecture such as "amd64" or "amd64/generic"; amd64 when empty.
	Architecture string `json:"architecture,omitempty"`
	Title        string `json:"title,omitempty"`
	// BaseImage of an uploaded image; "ubuntu/jammy" when empty.
	BaseImage string `json:"baseImage,omitempty"`
	// Kernels of a streamed image, such as "ga-22.04"; known ones when empty.
	Kernels []string `json:"kernels,omitempty"`
}

// Machine is hardware that MAAS knows.
type Machine struct {
	Hostname string `json:"hostname"`
	// SystemID has six characters; drawn from the seed when empty.
	SystemID string   `json:"systemID,omitempty"`
	Domain   string   `json:"domain,omitempty"` // the default domain when empty
	Zone     string   `json:"zone,omitempty"`   // "default" when empty
	Pool     string   `json:"pool,omitempty"`   // "default" when empty
	Tags     []string `json:"tags,omitempty"`
	// Architecture such as "amd64/generic", the default.
	Architecture string `json:"architecture,omitempty"`
	Cores        int    `json:"cores,omitempty"`     // 4 when zero
	MemoryMiB    int    `json:"memoryMiB,omitempty"` // 8192 when zero
	DiskGB       int    `json:"diskGB,omitempty"`    // of 10^9 bytes; 480 when zero; no disk when negative
	MAC          string `json:"mac,omitempty"`       // drawn from the seed when empty
	// Subnet (name or CIDR) of the boot interface; the first when empty, no
	// interface for "none".
	Subnet string `json:"subnet,omitempty"`
	// PowerType is "ipmi" when empty. "manual" cannot be switched or queried.
	PowerType string `json:"powerType,omitempty"`
	// PowerParameters are how MAAS reaches the power hardware, such as
	// power_address, power_user and power_pass. An ipmi machine gets made-up
	// ones when they are empty.
	PowerParameters map[string]string `json:"powerParameters,omitempty"`
	// PowerState is "off" when empty.
	PowerState string `json:"powerState,omitempty"`
	// Status is Ready when nil.
	Status *Status `json:"status,omitempty"`
	// NeverCommissioned machines go to New when they are released.
	NeverCommissioned bool   `json:"neverCommissioned,omitempty"`
	HardwareUUID      string `json:"hardwareUUID,omitempty"`
	Description       string `json:"description,omitempty"`
}
