package maas

import (
	"encoding/json"
	"slices"
)

// Machine is a machine as MAAS returns it. Fields that a version of MAAS does not send are zero.
//
// MAAS filters machines by agent name but never returns it; deploy's user data cannot be read back either.
type Machine struct {
	SystemID         string            `json:"system_id"`
	Hostname         string            `json:"hostname"`
	FQDN             string            `json:"fqdn"`
	Owner            string            `json:"owner"` // user name; "" when nobody owns it
	Description      string            `json:"description"`
	HardwareUUID     string            `json:"hardware_uuid"`        // "" when MAAS knows none
	Annotations      map[string]string `json:"workload_annotations"` // MAAS 3.0 and newer; else from owner_data
	Locked           bool              `json:"locked"`
	Status           Status            `json:"status"`
	StatusName       string            `json:"status_name"`       // MAAS's label; compare Status instead
	StatusMessage    string            `json:"status_message"`    // last event of level INFO; free text, "" when there is none
	ErrorDescription string            `json:"error_description"` // MAAS 3.5 and newer
	Architecture     string            `json:"architecture"`      // such as amd64/generic
	OSystem          string            `json:"osystem"`
	DistroSeries     string            `json:"distro_series"`
	HWEKernel        string            `json:"hwe_kernel"`
	EphemeralDeploy  bool              `json:"ephemeral_deploy"` // deployed to memory; MAAS 3.3.7, 3.4.2 and newer
	Netboot          bool              `json:"netboot"`          // true until the installer has written the disk
	CPUCount         int               `json:"cpu_count"`
	MemoryMiB        int               `json:"memory"`
	StorageMB        float64           `json:"storage"` // 10^6 bytes, all disks
	PowerType        string            `json:"power_type"`
	PowerState       PowerState        `json:"power_state"`
	Tags             []string          `json:"tag_names"`
	IPAddresses      []string          `json:"ip_addresses"` // static ones first; without the nulls MAAS may send
	Zone             Zone              `json:"zone"`
	Pool             ResourcePool      `json:"pool"`
	Domain           Domain            `json:"domain"`
	BootInterface    *Interface        `json:"boot_interface"`
	Interfaces       []Interface       `json:"interface_set"`
	BootDisk         *BlockDevice      `json:"boot_disk"`
	BlockDevices     []BlockDevice     `json:"blockdevice_set"`
	Pod              *Pod              `json:"pod"` // the VM host that runs it; nil for hardware
}

// UnmarshalJSON decodes what any version of MAAS sends as a machine.
func (m *Machine) UnmarshalJSON(data []byte) error {
	type plain Machine
	*m = Machine{}
	// These fields differ in type or name, so they hide those of the same name in plain.
	w := struct {
		*plain
		Status    *number           `json:"status"`
		CPUCount  number            `json:"cpu_count"`
		Memory    number            `json:"memory"`
		OwnerData map[string]string `json:"owner_data"`
	}{plain: (*plain)(m)}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if m.SystemID == "" || w.Status == nil {
		return errShape("a machine has no system_id or no status")
	}
	m.Status, m.CPUCount, m.MemoryMiB = Status(*w.Status), int(w.CPUCount), int(w.Memory)
	if m.Annotations == nil {
		m.Annotations = w.OwnerData // MAAS 2.9
	}
	m.IPAddresses = slices.DeleteFunc(m.IPAddresses, func(ip string) bool { return ip == "" })
	return nil
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
	ID        int      `json:"id"`
	Name      string   `json:"name"`
	Type      string   `json:"type"` // physical or virtual
	Path      string   `json:"path"`
	Model     string   `json:"model"`
	Serial    string   `json:"serial"`
	SizeBytes int64    `json:"size"`
	Tags      []string `json:"tags"`
}

// UnmarshalJSON decodes a block device, whose size may arrive as a float.
func (b *BlockDevice) UnmarshalJSON(data []byte) error {
	type plain BlockDevice
	*b = BlockDevice{}
	w := struct {
		*plain
		Size number `json:"size"`
	}{plain: (*plain)(b)}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	b.SizeBytes = int64(w.Size)
	return nil
}

// Pod names the VM host that a virtual machine runs on.
type Pod struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}
