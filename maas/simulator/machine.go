package simulator

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
)

// machineOperations are the calls of one machine.
func machineOperations() []operation {
	return []operation{
		{http.MethodGet, "/machines/{system_id}/", "", viewers, readMachine, ""},
		{http.MethodPut, "/machines/{system_id}/", "", machineAdmins, updateMachine, "Power parameters are kept and not checked"},
		{http.MethodDelete, "/machines/{system_id}/", "", machineAdmins, deleteMachine, ""},
		{http.MethodPost, "/machines/{system_id}/", "deploy", editors, deployMachine, "options for VM hosts, VMware, hardware sync, crash dumps and bridges have no effect"},
		{http.MethodPost, "/machines/{system_id}/", "release", editors, releaseMachine, "release scripts do nothing, and a quick or secure erase takes as long as a full one"},
		{http.MethodPost, "/machines/{system_id}/", "abort", editors, abortMachine, ""},
		{http.MethodPost, "/machines/{system_id}/", "power_on", editors, powerOnMachine, ""},
		{http.MethodPost, "/machines/{system_id}/", "power_off", editors, powerOffMachine, "`stop_mode` makes no difference"},
		{http.MethodGet, "/machines/{system_id}/", "query_power_state", viewers, queryPowerState, ""},
		{http.MethodPost, "/machines/{system_id}/", "set_workload_annotations", editors, setWorkloadAnnotations, ""},
		{http.MethodPost, "/machines/{system_id}/", "set_owner_data", editors, setWorkloadAnnotations, ""},
		{http.MethodPost, "/machines/{system_id}/", "mark_broken", editors, markBroken, ""},
		{http.MethodPost, "/machines/{system_id}/", "mark_fixed", machineAdmins, markFixed, ""},
		{http.MethodPost, "/machines/{system_id}/", "lock", lockers, lockMachine, ""},
		{http.MethodPost, "/machines/{system_id}/", "unlock", lockers, unlockMachine, ""},
		{http.MethodPost, "/machines/{system_id}/", "rescue_mode", machineAdmins, rescueMode, ""},
		{http.MethodPost, "/machines/{system_id}/", "exit_rescue_mode", machineAdmins, exitRescueMode, ""},
		{http.MethodPost, "/machines/{system_id}/", "commission", machineAdmins, commissionMachine, "parameters are ignored, no script is run, and no other hardware is found"},
		{http.MethodPost, "/machines/{system_id}/", "test", machineAdmins, testMachine, "parameters are ignored, and no script is run"},
		{http.MethodPost, "/machines/{system_id}/", "override_failed_testing", machineAdmins, overrideFailedTesting, ""},
		{http.MethodPost, "/machines/{system_id}/", "set_storage_layout", machineAdmins, setStorageLayout, "the disks stay divided as they are"},
		{http.MethodPost, "/machines/{system_id}/", "restore_default_configuration", machineAdmins, restoreDefaultConfiguration,
			"commissioning keeps nothing to restore from, so that it always fails"},
	}
}

// addMachine adds hardware to the region. The lock is held.
func (r *Region) addMachine(in Machine) (string, error) {
	s := r.state
	m := &machine{
		systemID: in.SystemID, hostname: in.Hostname, description: in.Description, hardwareUUID: in.HardwareUUID,
		architecture: in.Architecture, cores: in.Cores, memoryMiB: in.MemoryMiB, powerType: in.PowerType, powerState: in.PowerState,
		status: StatusReady, previous: StatusReady, netboot: true, commissioned: !in.NeverCommissioned,
		domain: s.defaultDomain, zone: 1,
	}
	if in.Hostname == "" {
		return "", fmt.Errorf("a machine has no hostname")
	}
	fail := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("machine %q: "+format, append([]any{in.Hostname}, args...)...)
	}
	if err := in.check(); err != nil {
		return fail("%w", err)
	}
	if in.Status != nil {
		m.status = *in.Status
	}
	if err := r.placeMachine(m, in); err != nil {
		return fail("%w", err)
	}
	m.setDefaults()
	if m.systemID == "" {
		m.systemID = r.freeSystemID()
	}
	if _, taken := s.machines.get(m.systemID); taken || len(m.systemID) != 6 {
		return fail("systemID %q is taken or has not six characters", m.systemID)
	}
	if r.nameTaken(machineName{m.hostname, m.domain}) {
		return fail("there is another one of that name")
	}
	m.id = s.machines.nextID()
	m.powerParameters = maps.Clone(in.PowerParameters)
	if len(m.powerParameters) == 0 {
		m.powerParameters = m.defaultPowerParameters()
	}
	if m.hardwareUUID == "" {
		m.hardwareUUID = r.drawUUID()
	}
	if err := r.addNIC(m, in); err != nil {
		return fail("%w", err)
	}
	r.addDisk(m, in)
	s.lastResult += 3
	m.installResult = s.lastResult
	s.machines.put(m.systemID, m)
	if r.filling != nil {
		r.filling.add(m)
	}
	return m.systemID, nil
}

func (m *machine) setDefaults() {
	if m.architecture == "" {
		m.architecture = "amd64"
	}
	if !strings.Contains(m.architecture, "/") {
		m.architecture += "/generic"
	}
	if m.cores == 0 {
		m.cores = 4
	}
	if m.memoryMiB == 0 {
		m.memoryMiB = 8192
	}
	if m.powerType == "" {
		m.powerType = "ipmi"
	}
	if m.powerState == "" {
		m.powerState = "off"
	}
}

// placeMachine sets a machine's domain, zone, pool and tags.
func (r *Region) placeMachine(m *machine, in Machine) error {
	s := r.state
	if in.Domain != "" {
		d, ok := s.domainNamed(in.Domain)
		if !ok {
			return fmt.Errorf("no domain %q", in.Domain)
		}
		m.domain = d.id
	}
	if in.Zone != "" {
		z, ok := s.zoneNamed(in.Zone)
		if !ok {
			return fmt.Errorf("no zone %q", in.Zone)
		}
		m.zone = z.id
	}
	if in.Pool != "" {
		p, ok := s.poolNamed(in.Pool)
		if !ok {
			return fmt.Errorf("no pool %q", in.Pool)
		}
		m.pool = p.id
	}
	for _, name := range in.Tags {
		if _, ok := s.tags.get(name); !ok {
			s.tags.put(name, &tag{id: s.tags.nextID(), name: name})
		}
		m.tags = append(m.tags, name)
	}
	return nil
}

// configuredSubnet is the subnet that a configuration names; the first for "".
func (s *state) configuredSubnet(text string) (*subnet, error) {
	if text == "" && len(s.subnets.ordered) > 0 {
		return s.subnets.ordered[0], nil
	}
	n, ok := s.subnetNamed(text)
	if !ok {
		return nil, fmt.Errorf("no subnet %q", text)
	}
	return n, nil
}

// addNIC gives a machine a network interface with an AUTO link.
func (r *Region) addNIC(m *machine, in Machine) error {
	if in.Subnet == "none" {
		return nil
	}
	s := r.state
	net0, err := s.configuredSubnet(in.Subnet)
	if err != nil {
		return err
	}
	mac := strings.ToLower(in.MAC)
	if mac == "" {
		mac = r.freeMAC(qemuMAC)
	}
	if _, err := net.ParseMAC(mac); err != nil {
		return fmt.Errorf("mac %q is no MAC address", in.MAC)
	}
	if r.macTaken(mac) {
		return fmt.Errorf("another machine has mac %q", in.MAC)
	}
	row := &address{id: s.addresses.nextID(), kind: allocAuto, subnet: net0, machine: m.systemID, created: r.clock.Now()}
	s.addresses.put(row.id, row)
	s.lastNIC++
	m.nics = append(m.nics, nic{
		id: s.lastNIC, name: "eno1", mac: mac, vlan: net0.vlan,
		links: []link{{id: row.id, mode: modeAuto, subnet: net0, addr: row.id}},
	})
	return nil
}

func (r *Region) addDisk(m *machine, in Machine) {
	if in.DiskGB < 0 {
		return
	}
	size := int64(in.DiskGB) * 1_000_000_000
	if in.DiskGB == 0 {
		size = 480_103_981_056
	}
	r.state.lastDisk++
	m.disks = append(m.disks, disk{
		id: r.state.lastDisk, name: "sda", model: "S4510", serial: "SER" + r.drawID("0123456789", 4), size: size, tags: []string{"ssd"},
		partitionUUID: r.drawUUID(),
	})
}

// powerable says whether MAAS can switch and query a machine's power.
func (m *machine) powerable() bool { return m.powerType != "manual" && m.powerType != "" }
