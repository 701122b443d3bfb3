package simulator

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

// bootSlot keeps the Booter's calls for one machine apart.
type bootSlot struct {
	mu     sync.Mutex
	cancel context.CancelFunc // ends the context of the last Boot
}

// background runs f beside the request that caused it; with a virtual clock it
// runs at once, so that nothing happens by chance.
func (r *Region) background(f func()) {
	if _, virtual := r.clock.(*VirtualClock); virtual {
		f()
		return
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	r.working.Add(1)
	r.mu.Unlock()
	go func() {
		defer r.working.Done()
		f()
	}()
}

func (r *Region) slot(systemID string) *bootSlot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slots[systemID] == nil {
		r.slots[systemID] = &bootSlot{}
	}
	return r.slots[systemID]
}

// setCancel replaces the function that ends a machine's boot and runs the old
// one.
func (r *Region) setCancel(slot *bootSlot, cancel context.CancelFunc) {
	r.mu.Lock()
	old := slot.cancel
	slot.cancel = cancel
	closed := r.closed
	r.mu.Unlock()
	if old != nil {
		old()
	}
	if closed && cancel != nil {
		cancel()
	}
}

// boot asks the Booter to start a machine's installed system after so long.
func (t *tx) boot(m *machine, after time.Duration) {
	id, run, r := m.systemID, m.run, t.r
	t.later(after, func() { r.background(func() { r.bootNow(id, run) }) })
}

// restart boots what a machine that was off has on its disk. Nobody notices
// when it does not come up.
func (t *tx) restart(m *machine) {
	if t.r.cfg.Boot == nil {
		return
	}
	if trouble := t.ask(m, MomentBoot); trouble.Fail == "" && !trouble.Stuck {
		t.boot(m, trouble.Delay)
	}
}

func (r *Region) bootNow(systemID string, run int) {
	slot := r.slot(systemID)
	slot.mu.Lock()
	defer slot.mu.Unlock()
	r.mu.Lock()
	m, ok := r.state.machines.get(systemID)
	if !ok || m.run != run || r.closed {
		r.mu.Unlock()
		return
	}
	description := r.describeBoot(m)
	r.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	r.setCancel(slot, cancel)
	if err := r.cfg.Boot.Boot(ctx, description); err != nil {
		r.step(systemID, run, func(t *tx, m *machine) {
			if m.status == StatusDeploying {
				t.failDeployment(m, "boot failed: "+err.Error())
			}
		})
	}
}

// wipe makes the Booter stop a machine that is off or gone, and forget its disk.
func (t *tx) wipe(m *machine) {
	id, r := m.systemID, t.r
	if r.cfg.Boot == nil {
		return
	}
	t.later(0, func() {
		r.background(func() {
			if err := r.haltNow(id, true); err != nil {
				r.change(func(t *tx) *refusal {
					if m, ok := t.machines.get(id); ok {
						t.emit(m, "unknown", levelError, "Failed to power off node", err.Error())
					}
					return nil
				})
			}
		})
	})
}

func (r *Region) haltNow(systemID string, wipe bool) error {
	slot := r.slot(systemID)
	r.setCancel(slot, nil) // a Boot that still runs should end now
	slot.mu.Lock()
	defer slot.mu.Unlock()
	r.setCancel(slot, nil)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	return r.cfg.Boot.Halt(ctx, systemID, wipe)
}

// describeBoot collects what a machine knows when it boots. The lock is held.
func (r *Region) describeBoot(m *machine) BootMachine {
	s := r.state
	domain := s.domainOf(m).name
	image := m.osystem + "/" + m.series
	if m.osystem == "" {
		image = (&tx{state: s, r: r}).defaultImage() // power_on of an Allocated machine names none
	}
	out := BootMachine{
		SystemID: m.systemID, Hostname: m.hostname, Domain: domain, Image: image, Architecture: m.architecture,
		Cores: m.cores, MemoryMiB: m.memoryMiB, MetadataURL: r.publicURL + "/metadata/",
	}
	if m.installs.uploaded {
		out.ImageSHA256, out.ImageFile = m.installs.sha256, r.store.path(m.installs.sha256)
	}
	if m.token != nil {
		out.ConsumerKey, out.TokenKey, out.TokenSecret = m.token.consumer, m.token.key, m.token.secret
	}
	out.SearchDomains = []string{domain}
	for _, d := range s.domains.all() {
		if d.name != domain && d.authoritative {
			out.SearchDomains = append(out.SearchDomains, d.name)
		}
	}
	if len(m.nics) == 0 {
		return out
	}
	n := m.nics[0]
	out.Interface.Name, out.Interface.MAC = n.name, n.mac
	for _, l := range n.links {
		row, ok := s.addresses.get(l.addr)
		if !ok || !row.ip.IsValid() || l.subnet == nil {
			continue
		}
		out.Interface.Address = netip.PrefixFrom(row.ip, l.subnet.prefix.Bits()).String()
		if l.subnet.gateway.IsValid() {
			out.Interface.Gateway = l.subnet.gateway.String()
		}
		for _, server := range l.subnet.dnsServers {
			out.Nameservers = append(out.Nameservers, net.IP(server.AsSlice()).String())
		}
		break
	}
	return out
}

// renewToken gives a machine a new key for the metadata service.
func (t *tx) renewToken(m *machine) {
	t.dropToken(m)
	key := t.drawToken()
	key.machine = m.systemID
	insert(t, t.tokens, key.key, key)
	edit(t, m).token = key
}

func (t *tx) dropToken(m *machine) {
	if m.token == nil {
		return
	}
	remove(t, t.tokens, m.token.key)
	edit(t, m).token = nil
}
