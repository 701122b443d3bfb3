package simulator

// taken is what a region's machines have that must be unique. It is kept only
// while a region is filled: to go through all machines for each takes long when
// there are thousands.
type taken struct {
	names map[machineName]bool
	macs  map[string]bool
}

type machineName struct {
	hostname string
	domain   int
}

func newTaken() *taken { return &taken{names: map[machineName]bool{}, macs: map[string]bool{}} }

func (t *taken) add(m *machine) {
	t.names[machineName{m.hostname, m.domain}] = true
	for _, n := range m.nics {
		t.macs[n.mac] = true
	}
}

func (r *Region) nameTaken(name machineName) bool {
	if r.filling != nil {
		return r.filling.names[name]
	}
	_, found := r.state.machines.find(func(m *machine) bool { return m.hostname == name.hostname && m.domain == name.domain })
	return found
}

func (r *Region) macTaken(mac string) bool {
	if r.filling != nil {
		return r.filling.macs[mac]
	}
	_, found := r.state.machineWithMAC(mac)
	return found
}

// The first halves of MAC addresses: QEMU's, which other machines have too,
// and LXD's.
const (
	qemuMAC = "52:54:00"
	lxdMAC  = "00:16:3e"
)

// freeMAC draws a MAC address that no machine has.
func (r *Region) freeMAC(vendor string) string {
	for {
		hex := r.drawID(hexDigits, 6)
		if mac := vendor + ":" + hex[:2] + ":" + hex[2:4] + ":" + hex[4:]; !r.macTaken(mac) {
			return mac
		}
	}
}
