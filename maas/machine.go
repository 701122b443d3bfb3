package maas

// Machine is a machine as MAAS returns it. Fields that a version of MAAS does not send are zero.
//
// MAAS filters machines by agent name but never returns it; deploy's user data cannot be read back either.
type Machine struct {
	SystemID         string
	Hostname         string
	FQDN             string
	Owner            string // user name; "" when nobody owns it
	Description      string
	HardwareUUID     string            // "" when MAAS knows none
	Annotations      map[string]string // workload_annotations (MAAS 3.0 and newer), else owner_data
	Locked           bool
	Status           Status
	StatusName       string // MAAS's label; compare Status instead
	StatusMessage    string // last event of level INFO; free text, "" when there is none
	ErrorDescription string // MAAS 3.5 and newer
	Architecture     string // such as amd64/generic
	OSystem          string
	DistroSeries     string
	HWEKernel        string
	EphemeralDeploy  bool // deployed to memory; MAAS 3.3.7, 3.4.2 and newer
	Netboot          bool // true until the installer has written the disk
	CPUCount         int
	MemoryMiB        int
	StorageMB        float64 // 10^6 bytes, all disks
	PowerType        string
	PowerState       PowerState
	Tags             []string
	IPAddresses      []string // static ones first; without the nulls MAAS may send
	Zone             Zone
	Pool             ResourcePool
	Domain           Domain
	BootInterface    *Interface
	Interfaces       []Interface
	BootDisk         *BlockDevice
	BlockDevices     []BlockDevice
	Pod              *Pod // the VM host that runs it; nil for hardware
}

// Interface is a network interface of a machine.
type Interface struct {
	ID         int      `json:"id"`
	Name       string   `json:"name"`
	MACAddress string   `json:"mac_address"`
	Type       string   `json:"type"` // physical, bond, bridge, vlan
	Enabled    bool     `json:"enabled"`
	Links      []Link   `json:"links"`
	Tags       []string `json:"tags"`
	VLAN       *VLAN    `json:"vlan"` // nil when disconnected
	SystemID   string   `json:"system_id"`
}

// Link is an address configuration of an interface.
type Link struct {
	ID        int     `json:"id"`
	Mode      string  `json:"mode"`       // auto, dhcp, static or link_up
	IPAddress string  `json:"ip_address"` // "" while none is assigned
	Subnet    *Subnet `json:"subnet"`
}

// BlockDevice is a disk, or another block device, of a machine.
type BlockDevice struct {
	ID        int
	Name      string
	Type      string // physical or virtual
	Path      string
	Model     string
	Serial    string
	SizeBytes int64
	Tags      []string
}

// Pod names the VM host that a virtual machine runs on.
type Pod struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}
