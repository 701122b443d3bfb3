package simulator

import (
	"net/netip"
	"sync"
	"time"
)

// The rows of the region. A row's slices, maps and pointers are never changed
// in place, only replaced: a transaction undoes a change of a row by putting a
// shallow copy back.

type user struct {
	name, email     string
	admin, disabled bool
}

// token is an API key of a user, or of a machine for the metadata service.
type token struct {
	consumer, key, secret string
	owner                 *user
	machine               string // system ID, for a machine's own token
	name                  string // of a user's key, as its maker called it
}

type zone struct {
	id                int
	name, description string
}

type pool struct {
	id                int
	name, description string
}

type tag struct {
	id                                    int
	name, comment, definition, kernelOpts string
}

type domain struct {
	id            int
	name          string
	ttl           *int
	authoritative bool
}

type fabric struct {
	id   int
	name string
}

type vlan struct {
	id, vid, mtu int
	name         string
	fabric       *fabric
	space        string
	dhcp         bool
}

type subnet struct {
	id          int
	name        string
	description string
	prefix      netip.Prefix
	gateway     netip.Addr
	dnsServers  []netip.Addr
	vlan        *vlan
	options     subnetOptions
	reserved    []addrRange // copies of those in the table of ranges
	dynamic     []addrRange
	exhausted   bool // by an operator: nothing gets an address
}

type addrRange struct{ first, last netip.Addr }

func (r addrRange) contains(a netip.Addr) bool {
	return r.first.Compare(a) <= 0 && a.Compare(r.last) <= 0
}

// MAAS's kinds of addresses.
const (
	allocAuto     = 0
	allocSticky   = 1
	allocReserved = 4
	allocDHCP     = 5
)

// address is an IP address row. An AUTO row belongs to a machine's link and
// has no address while the machine is not deployed.
type address struct {
	id      int
	ip      netip.Addr
	kind    int
	owner   string // user name
	subnet  *subnet
	machine string // system ID, for a link's row
	created time.Time
}

type nic struct {
	id        int
	name, mac string
	vlan      *vlan // nil when it is disconnected
	links     []link
	tags      []string
}

type link struct {
	id     int
	mode   string
	subnet *subnet
	addr   int // ID of the address row
}

// installedImage is what a machine is deployed with.
type installedImage struct {
	sha256   string
	uploaded bool // through the API, not made up by the configuration
}

type disk struct {
	id            int
	name, model   string
	serial        string
	size          int64
	tags          []string
	partitionUUID string
	storagePool   string // of a VM host
}

type machine struct {
	id                    int
	systemID, hostname    string
	hardwareUUID          string
	description           string
	domain                int
	zone, pool            int
	tags                  []string
	architecture          string
	cores, memoryMiB      int
	swapSize              *int64
	nics                  []nic
	disks                 []disk
	powerType, powerState string
	powerParameters       map[string]string
	status, previous      Status
	owner, agentName      string
	annotations           map[string]string
	locked                bool
	osystem, series       string
	installs              installedImage
	hweKernel             *string
	minHWEKernel          *string
	ephemeral, netboot    bool
	errorDescription      string
	commissioned          bool
	unexplored            bool // until its first commissioning
	installResult         int
	userData              []byte
	hasUserData           bool
	token                 *token
	vmHost                int // that made it; 0 for none
	virtualMachine        int
	gatewayLink           int // that traffic leaves by; 0 when MAAS chooses
	// dynamic machines were made by an allocate, and go when they are released.
	dynamic bool
	// run changes whenever what the machine does is cut short, so that work
	// queued for an earlier run does nothing.
	run int
}

type dnsResource struct {
	id     int
	name   string
	domain int
	ttl    *int
	addrs  []int // IDs of address rows
}

type dnsRecord struct {
	id           int
	resource     int
	rrtype, data string
	ttl          *int
}

type event struct {
	id                int
	username          string
	systemID          string
	hostname          string
	level             int
	created           time.Time
	kind, description string
}

type image struct {
	id           int
	name         string // osystem/series
	uploaded     bool
	posted       bool   // made by a request
	architecture string // amd64
	kernel       string // ga-22.04 for streamed ones, else ""
	title        string
	base         string
	sets         []imageSet // oldest first
}

// imageSet is a version of an image.
type imageSet struct{ version, label string }

// imageFile is a file of a version of an image.
type imageFile struct {
	id, image          int
	version            string
	filename, filetype string
	diskName           string
	content            int
}

// content is what a file holds, or will hold.
type content struct {
	id          int
	sha256      string // as the one who uploads it said
	total, done int64
	madeUp      bool // by the configuration
	// digest is the state of the checksum after done bytes, and partial where
	// they are stored, while the content is not complete.
	digest  []byte
	partial string
	// writing is held by the request that adds to it.
	writing *sync.Mutex
}

// state is all that a region holds. It is guarded by the region's lock.
type state struct {
	users     *table[string, *user]
	tokens    *table[string, *token] // by token key
	zones     *table[int, *zone]
	pools     *table[int, *pool]
	tags      *table[string, *tag]
	domains   *table[int, *domain]
	fabrics   *table[int, *fabric]
	vlans     *table[int, *vlan]
	subnets   *table[int, *subnet]
	spaces    *table[int, *space]
	ranges    *table[int, *ipRange]
	addresses *table[int, *address]
	machines  *table[string, *machine] // by system ID
	resources *table[int, *dnsResource]
	records   *table[int, *dnsRecord]
	images    *table[int, *image]
	files     *table[int, *imageFile]
	contents  *table[int, *content]
	vmHosts   *table[int, *vmHost]
	events    []*event
	// byAddress finds the rows that hold an address.
	byAddress map[netip.Addr][]int
	// latestEvent is the newest event at level INFO or above, by system ID.
	latestEvent   map[string]*event
	nonces        map[string]spentNonce
	manyNonces    int // there are so many when old ones are dropped
	spentNonces   int
	defaultDomain int
	settings      map[string]any // those that were changed, by name
	lastNIC       int
	lastDisk      int
	lastResult    int
	// lastVirtualMachine is the newest that a VM host made.
	lastVirtualMachine int
	dnsSerial          uint32
}

func newState() *state {
	return &state{
		users: newTable[string, *user](), tokens: newTable[string, *token](),
		zones: newTable[int, *zone](), pools: newTable[int, *pool](), tags: newTable[string, *tag](),
		domains: newTable[int, *domain](), fabrics: newTable[int, *fabric](), vlans: newTable[int, *vlan](),
		subnets: newTable[int, *subnet](), addresses: newTable[int, *address](),
		machines: newTable[string, *machine](), resources: newTable[int, *dnsResource](),
		records: newTable[int, *dnsRecord](), images: newTable[int, *image](),
		vmHosts: newTable[int, *vmHost](), files: newTable[int, *imageFile](), contents: newTable[int, *content](),
		spaces: newTable[int, *space](), ranges: newTable[int, *ipRange](),
		byAddress: map[netip.Addr][]int{}, latestEvent: map[string]*event{}, nonces: map[string]spentNonce{},
		dnsSerial: 1,
	}
}

func (s *state) zoneNamed(name string) (*zone, bool) {
	return s.zones.find(func(z *zone) bool { return z.name == name })
}

func (s *state) poolNamed(name string) (*pool, bool) {
	return s.pools.find(func(p *pool) bool { return p.name == name })
}

func (s *state) domainNamed(name string) (*domain, bool) {
	return s.domains.find(func(d *domain) bool { return d.name == name })
}

// machineNamed finds a machine by its hostname, in whichever domain.
func (s *state) machineNamed(hostname string) (*machine, bool) {
	return s.machines.find(func(m *machine) bool { return m.hostname == hostname })
}

// machineWithMAC finds the machine of an interface.
func (s *state) machineWithMAC(mac string) (*machine, bool) {
	return s.machines.find(func(m *machine) bool { return m.hasMAC(mac) })
}

// subnetNamed finds a subnet by its name or CIDR.
func (s *state) subnetNamed(text string) (*subnet, bool) {
	return s.subnets.find(func(n *subnet) bool { return n.name == text || n.prefix.String() == text })
}

func (s *state) domainOf(m *machine) *domain { return s.domains.rows[m.domain] }

func (s *state) fqdn(m *machine) string { return m.hostname + "." + s.domainOf(m).name }

// subnetOf finds the subnet that holds an address; nil when none does.
func (s *state) subnetOf(a netip.Addr) *subnet {
	found, _ := s.subnets.find(func(n *subnet) bool { return n.prefix.Contains(a) })
	return found
}

// machineAddresses are the addresses of a machine's links, in order.
func (s *state) machineAddresses(m *machine) []netip.Addr {
	var out []netip.Addr
	for _, n := range m.nics {
		for _, l := range n.links {
			if row, ok := s.addresses.get(l.addr); ok && row.ip.IsValid() {
				out = append(out, row.ip)
			}
		}
	}
	return out
}
