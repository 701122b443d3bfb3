package simulator

import (
	"fmt"
	"strings"
)

// VMHost is a machine that others can be composed on: it is in MAAS, and what
// it has is known.
type VMHost struct {
	Name string `json:"name"`
	// Type is "lxd", the default, or "virsh".
	Type      string `json:"type,omitempty"`
	Cores     int    `json:"cores,omitempty"`     // 16 when zero
	MemoryMiB int    `json:"memoryMiB,omitempty"` // 65536 when zero
	// StoragePools of its disks, the first of them for what asks for none; one,
	// "default" of 1000 GB, when empty.
	StoragePools []StoragePool `json:"storagePools,omitempty"`
	// Architecture of its machines; "amd64/generic" when empty.
	Architecture string `json:"architecture,omitempty"`
	Zone         string `json:"zone,omitempty"` // "default" when empty
	// Pool that composed machines are in; "default" when empty.
	Pool string `json:"pool,omitempty"`
	// Tags of the host, which composed machines get.
	Tags []string `json:"tags,omitempty"`
	// CPUOverCommit and MemoryOverCommit are by how much the machines may have
	// more than the host; 1 when zero.
	CPUOverCommit    float64 `json:"cpuOverCommit,omitempty"`
	MemoryOverCommit float64 `json:"memoryOverCommit,omitempty"`
	// Subnet (name or CIDR) of the machines; the first when empty.
	Subnet string `json:"subnet,omitempty"`
	// PowerAddress is where MAAS reaches it; made up when empty.
	PowerAddress string `json:"powerAddress,omitempty"`
	// Unregistered hosts are in MAAS only once somebody adds a VM host with their
	// power address.
	Unregistered bool `json:"unregistered,omitempty"`
}

// StoragePool is where a VM host keeps disks.
type StoragePool struct {
	Name string `json:"name"`
	GB   int    `json:"gb"` // of 10^9 bytes
	// Type such as "dir", the default, "zfs" or "lvm".
	Type string `json:"type,omitempty"`
}

func (r *Region) addVMHosts() error {
	for i, in := range r.cfg.VMHosts {
		if in.Name == "" {
			return fmt.Errorf("a VM host has no name")
		}
		h, err := r.newVMHost(in, i)
		if err != nil {
			return fmt.Errorf("VM host %q: %w", in.Name, err)
		}
		if in.Unregistered {
			continue
		}
		if _, taken := r.state.vmHosts.find(func(o *vmHost) bool { return o.name == h.name }); taken {
			return fmt.Errorf("VM host %q is there twice", in.Name)
		}
		h.id = r.state.vmHosts.nextID()
		r.state.vmHosts.put(h.id, h)
	}
	return nil
}

// newVMHost makes a host's row of what is configured.
func (r *Region) newVMHost(in VMHost, number int) (*vmHost, error) {
	s := r.state
	h := &vmHost{name: in.Name, kind: in.Type, zone: 1, tags: in.Tags, cpuRatio: in.CPUOverCommit, memRatio: in.MemoryOverCommit}
	if h.kind == "" {
		h.kind = "lxd"
	}
	if h.kind != "lxd" && h.kind != "virsh" {
		return nil, fmt.Errorf("type %q is neither lxd nor virsh", in.Type)
	}
	if h.cpuRatio == 0 {
		h.cpuRatio = 1
	}
	if h.memRatio == 0 {
		h.memRatio = 1
	}
	var place machine
	if err := r.placeMachine(&place, Machine{Zone: in.Zone, Pool: in.Pool, Tags: in.Tags}); err != nil {
		return nil, err
	}
	if h.pool = place.pool; in.Zone != "" {
		h.zone = place.zone
	}
	var err error
	if h.subnet, err = s.configuredSubnet(in.Subnet); err != nil {
		return nil, err
	}
	if h.hardware, err = in.resources(); err != nil {
		return nil, err
	}
	h.known, h.hintCores, h.hintMemory = h.hardware, h.hardware.cores, h.hardware.memoryMiB
	h.parameters = hostParameters(h, params{})
	h.parameters["power_address"] = in.powerAddress(number)
	return h, nil
}

func (in VMHost) powerAddress(number int) string {
	switch {
	case in.PowerAddress != "":
		return in.PowerAddress
	case in.Type == "virsh":
		return fmt.Sprintf("qemu+ssh://10.9.9.%d/system", number+1)
	}
	return fmt.Sprintf("https://10.9.9.%d:8443", number+1)
}

// resources is what a host has.
func (in VMHost) resources() (hostResources, error) {
	out := hostResources{cores: in.Cores, memoryMiB: in.MemoryMiB, architectures: []string{in.Architecture}, version: "5.21.3"}
	if in.Type == "virsh" {
		out.version = "8.0.0"
	}
	if out.cores == 0 {
		out.cores = 16
	}
	if out.memoryMiB == 0 {
		out.memoryMiB = 65536
	}
	switch arch := in.Architecture; {
	case arch == "":
		out.architectures = []string{"amd64/generic"}
	case !strings.Contains(arch, "/"):
		out.architectures = []string{arch + "/generic"}
	}
	pools := in.StoragePools
	if len(pools) == 0 {
		pools = []StoragePool{{Name: "default", GB: 1000}}
	}
	for i, p := range pools {
		if p.Name == "" || p.GB <= 0 {
			return out, fmt.Errorf("a storage pool needs a name and a size in gb")
		}
		kind := p.Type
		if kind == "" {
			kind = "dir"
		}
		size := int64(p.GB) * 1e9
		out.localStorage += size
		out.pools = append(out.pools, storagePool{p.Name, kind, "/var/lib/" + p.Name, size, i == 0})
	}
	return out, nil
}

// hardwareAt is what MAAS finds at a power address: the unregistered host that
// has it, else a host of the usual size.
func (c *call) hardwareAt(kind, address string) (hostResources, *subnet) {
	for i, in := range c.r.cfg.VMHosts {
		if in.powerAddress(i) != address {
			continue
		}
		if h, err := c.r.newVMHost(in, i); err == nil {
			return h.hardware, h.subnet
		}
	}
	usual, _ := VMHost{Type: kind}.resources() // which always works
	var first *subnet
	if all := c.subnets.all(); len(all) > 0 {
		first = all[0]
	}
	return usual, first
}
