package simulator

import (
	"fmt"
	"strings"
)

// machineJSON is a machine as the API shows it. MAAS 3.7 has all these keys;
// pointers marked omitempty are those that older versions lack.
type machineJSON struct {
	SystemID            string            `json:"system_id"`
	Hostname            string            `json:"hostname"`
	Description         string            `json:"description"`
	HardwareUUID        *string           `json:"hardware_uuid"`
	FQDN                string            `json:"fqdn"`
	Domain              domainJSON        `json:"domain"`
	Owner               *string           `json:"owner"`
	OwnerData           map[string]string `json:"owner_data"`
	WorkloadAnnotations map[string]string `json:"workload_annotations"`
	Locked              bool              `json:"locked"`
	Status              Status            `json:"status"`
	StatusName          string            `json:"status_name"`
	StatusAction        *string           `json:"status_action"`
	StatusMessage       *string           `json:"status_message"`
	ErrorDescription    *string           `json:"error_description,omitempty"`
	Netboot             bool              `json:"netboot"`
	Architecture        string            `json:"architecture"`
	MinHWEKernel        *string           `json:"min_hwe_kernel"`
	HWEKernel           *string           `json:"hwe_kernel"`
	OSystem             string            `json:"osystem"`
	DistroSeries        string            `json:"distro_series"`
	EphemeralDeploy     *bool             `json:"ephemeral_deploy,omitempty"`
	CPUCount            int               `json:"cpu_count"`
	CPUSpeed            int               `json:"cpu_speed"`
	Memory              int               `json:"memory"`
	SwapSize            *int64            `json:"swap_size"`
	Storage             jsonFloat         `json:"storage"`
	BIOSBootMethod      *string           `json:"bios_boot_method"`
	DisableIPv4         bool              `json:"disable_ipv4"`
	PowerType           string            `json:"power_type"`
	PowerState          string            `json:"power_state"`
	TagNames            []string          `json:"tag_names"`
	AddressTTL          *int              `json:"address_ttl"`
	IPAddresses         []string          `json:"ip_addresses"`
	Zone                zoneJSON          `json:"zone"`
	Pool                poolJSON          `json:"pool"`
	BootInterface       *interfaceJSON    `json:"boot_interface"`
	InterfaceSet        []interfaceJSON   `json:"interface_set"`
	BootDisk            *diskJSON         `json:"boot_disk"`
	BlockDevices        []diskJSON        `json:"blockdevice_set"`
	PhysicalDevices     []diskJSON        `json:"physicalblockdevice_set"`
	VirtualDevices      []diskJSON        `json:"virtualblockdevice_set"`
	VolumeGroups        []any             `json:"volume_groups"`
	RAIDs               []any             `json:"raids"`
	BCaches             []any             `json:"bcaches"`
	CacheSets           []any             `json:"cache_sets"`
	SpecialFilesystems  []any             `json:"special_filesystems"`
	NodeType            int               `json:"node_type"`
	NodeTypeName        string            `json:"node_type_name"`
	Parent              any               `json:"parent"`
	Pod                 any               `json:"pod"`
	VirtualMachineID    *int              `json:"virtualmachine_id"`
	DefaultGateways     gatewaysJSON      `json:"default_gateways"`
	CommissioningResult int               `json:"current_commissioning_result_id"`
	TestingResult       int               `json:"current_testing_result_id"`
	InstallationResult  int               `json:"current_installation_result_id"`
	testResultsJSON
	HardwareInfo          map[string]string `json:"hardware_info"`
	NUMANodes             []numaJSON        `json:"numanode_set"`
	LastSync              *string           `json:"last_sync"`
	SyncInterval          *int              `json:"sync_interval"`
	NextSync              *string           `json:"next_sync"`
	EnableHWSync          *bool             `json:"enable_hw_sync,omitempty"`
	EnableKernelCrashDump *bool             `json:"enable_kernel_crash_dump,omitempty"`
	IsDPU                 *bool             `json:"is_dpu,omitempty"`
	ResourceURI           string            `json:"resource_uri"`
	// ConstraintsByType is in the answer to allocate only.
	ConstraintsByType any `json:"constraints_by_type,omitempty"`
}

type testResultsJSON struct {
	CommissioningStatus     int    `json:"commissioning_status"`
	CommissioningStatusName string `json:"commissioning_status_name"`
	TestingStatus           int    `json:"testing_status"`
	TestingStatusName       string `json:"testing_status_name"`
	CPUTestStatus           int    `json:"cpu_test_status"`
	CPUTestStatusName       string `json:"cpu_test_status_name"`
	MemoryTestStatus        int    `json:"memory_test_status"`
	MemoryTestStatusName    string `json:"memory_test_status_name"`
	NetworkTestStatus       int    `json:"network_test_status"`
	NetworkTestStatusName   string `json:"network_test_status_name"`
	StorageTestStatus       int    `json:"storage_test_status"`
	StorageTestStatusName   string `json:"storage_test_status_name"`
	OtherTestStatus         int    `json:"other_test_status"`
	OtherTestStatusName     string `json:"other_test_status_name"`
	InterfaceTestStatus     int    `json:"interface_test_status"`
	InterfaceTestStatusName string `json:"interface_test_status_name"`
}

type numaJSON struct {
	Index     int   `json:"index"`
	Cores     []int `json:"cores"`
	Memory    int   `json:"memory"`
	HugePages []any `json:"hugepages_set"`
}

// jsonFloat prints with a fraction even when it is whole, as Python does.
type jsonFloat float64

func (f jsonFloat) MarshalJSON() ([]byte, error) {
	s := fmt.Sprint(float64(f))
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return []byte(s), nil
}

// render makes a machine's JSON.
func (t *tx) render(m *machine) *machineJSON {
	out := &machineJSON{
		SystemID: m.systemID, Hostname: m.hostname, Description: m.description, HardwareUUID: optional(m.hardwareUUID), FQDN: t.fqdn(m),
		Domain: t.renderDomain(t.domainOf(m)), Owner: optional(m.owner), OwnerData: annotationsOf(m), WorkloadAnnotations: annotationsOf(m),
		Locked: m.locked, Status: m.status, StatusName: m.status.String(), Netboot: m.netboot, Architecture: m.architecture,
		MinHWEKernel: m.minHWEKernel, HWEKernel: m.hweKernel, OSystem: m.osystem, DistroSeries: m.series,
		CPUCount: m.cores, CPUSpeed: 2600, Memory: m.memoryMiB, SwapSize: m.swapSize, PowerType: m.powerType, PowerState: m.powerState,
		TagNames: append([]string{}, m.tags...), IPAddresses: []string{}, Zone: renderZone(t.zones.rows[m.zone]), Pool: renderPool(t.pools.rows[m.pool]),
		InterfaceSet: []interfaceJSON{}, BlockDevices: []diskJSON{}, PhysicalDevices: []diskJSON{}, VirtualDevices: []diskJSON{},
		VolumeGroups: []any{}, RAIDs: []any{}, BCaches: []any{}, CacheSets: []any{}, SpecialFilesystems: []any{},
		NodeTypeName: "Machine", CommissioningResult: m.installResult - 2, TestingResult: m.installResult - 1, InstallationResult: m.installResult,
		testResultsJSON: results(m), HardwareInfo: t.r.hardwareInfo, NUMANodes: []numaJSON{numa(m)},
		Pod: t.renderPod(m), ResourceURI: apiPrefix + "/machines/" + m.systemID + "/",
	}
	t.renderVersioned(m, out)
	if m.virtualMachine > 0 {
		out.VirtualMachineID = &m.virtualMachine
	}
	if e := t.latestEvent[m.systemID]; e != nil {
		message := e.message()
		out.StatusMessage, out.StatusAction = &message, new(string)
	}
	for _, ip := range t.machineAddresses(m) {
		out.IPAddresses = append(out.IPAddresses, ip.String())
	}
	for _, n := range m.nics {
		out.InterfaceSet = append(out.InterfaceSet, t.renderNIC(m, n))
	}
	out.DefaultGateways = m.gateways()
	if len(out.InterfaceSet) > 0 {
		out.BootInterface = &out.InterfaceSet[0]
	}
	for _, d := range m.disks {
		rendered := renderDisk(m, d)
		out.Storage += jsonFloat(d.size) / 1e6
		out.BlockDevices = append(out.BlockDevices, rendered)
		out.PhysicalDevices = append(out.PhysicalDevices, rendered)
	}
	if len(out.BlockDevices) > 0 {
		out.BootDisk = &out.BlockDevices[0]
	}
	return out
}

// renderVersioned fills the keys that came with later versions of MAAS.
func (t *tx) renderVersioned(m *machine, out *machineJSON) {
	if t.r.showsEphemeral() {
		out.EphemeralDeploy = &m.ephemeral
	}
	if t.r.showsHWSync() {
		out.EnableHWSync = new(bool)
	}
	if t.r.since(3, 5) {
		out.ErrorDescription = new(m.errorDescription)
	}
	if t.r.since(3, 6) {
		out.EnableKernelCrashDump = new(bool)
	}
	if t.r.since(3, 7) {
		out.IsDPU = new(bool)
	}
}

func annotationsOf(m *machine) map[string]string {
	out := map[string]string{}
	for key, value := range m.annotations {
		out[key] = value
	}
	return out
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func numa(m *machine) numaJSON {
	out := numaJSON{Cores: []int{}, Memory: m.memoryMiB, HugePages: []any{}}
	for i := range min(m.cores, mostCores) {
		out.Cores = append(out.Cores, i)
	}
	return out
}

func results(m *machine) testResultsJSON {
	const unknown = "Unknown"
	out := testResultsJSON{
		CommissioningStatus: 2, CommissioningStatusName: "Passed", TestingStatus: 2, TestingStatusName: "Passed",
		StorageTestStatus: 2, StorageTestStatusName: "Passed",
		CPUTestStatus: -1, CPUTestStatusName: unknown, MemoryTestStatus: -1, MemoryTestStatusName: unknown,
		NetworkTestStatus: -1, NetworkTestStatusName: unknown, OtherTestStatus: -1, OtherTestStatusName: unknown,
		InterfaceTestStatus: -1, InterfaceTestStatusName: unknown,
	}
	if !m.commissioned {
		out.CommissioningStatus, out.CommissioningStatusName, out.TestingStatus, out.TestingStatusName = 0, "Pending", 0, "Pending"
		out.StorageTestStatus, out.StorageTestStatusName = -1, unknown
	}
	return out
}

// hardwareInfo is what MAAS knows of a machine that does not tell: one for all.
func hardwareInfo() map[string]string {
	out := map[string]string{}
	for _, key := range []string{
		"system_vendor", "system_product", "system_family", "system_version", "system_sku", "system_serial", "cpu_model",
		"mainboard_vendor", "mainboard_product", "mainboard_serial", "mainboard_version", "mainboard_firmware_vendor",
		"mainboard_firmware_date", "mainboard_firmware_version", "chassis_vendor", "chassis_type", "chassis_serial", "chassis_version",
	} {
		out[key] = "Unknown"
	}
	return out
}
