package simulator

import (
	"fmt"
	"net/netip"
	"strings"
)

// populate fills an empty region from its configuration. The lock is held.
func (r *Region) populate() error {
	cfg := &r.cfg
	if len(cfg.Users) == 0 {
		cfg.Users = []User{{Name: "admin", APIKey: DefaultAPIKey, Admin: true}}
	}
	if len(cfg.Domains) == 0 {
		cfg.Domains = []Domain{{Name: "maas"}}
	}
	if len(cfg.Subnets) == 0 {
		cfg.Subnets = []Subnet{defaultSubnet(cfg.Size())}
	}
	if len(cfg.Images) == 0 {
		cfg.Images = []Image{{Name: "ubuntu/jammy"}, {Name: "ubuntu/noble"}}
	}
	steps := []func() error{r.addUsers, r.addPlaces, r.addDomains, r.addSubnets, r.addVMHosts, r.addImages}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	r.filling = newTaken()
	defer func() { r.filling = nil }()
	for _, m := range cfg.Machines {
		if _, err := r.addMachine(m); err != nil {
			return err
		}
	}
	return r.addInventory()
}

func (r *Region) addUsers() error {
	s := r.state
	for _, u := range r.cfg.Users {
		parts := strings.Split(u.APIKey, ":")
		if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
			return fmt.Errorf("user %q: apiKey must have the form consumer:token:secret", u.Name)
		}
		if u.Name == "" {
			return fmt.Errorf("a user has no name")
		}
		if _, ok := s.users.get(u.Name); ok {
			return fmt.Errorf("user %q is there twice", u.Name)
		}
		email := u.Email
		if email == "" {
			email = u.Name + "@example.com"
		}
		row := &user{name: u.Name, email: email, admin: u.Admin, disabled: u.Disabled}
		s.users.put(u.Name, row)
		s.tokens.put(parts[1], &token{consumer: parts[0], key: parts[1], secret: parts[2], owner: row, name: unnamedToken})
	}
	return nil
}

func (r *Region) addPlaces() error {
	s := r.state
	s.zones.put(s.zones.nextID(), &zone{id: 1, name: "default"})
	for _, z := range r.cfg.Zones {
		if _, ok := s.zoneNamed(z.Name); ok || z.Name == "" {
			if z.Name == "default" {
				continue
			}
			return fmt.Errorf("zone %q is there twice or has no name", z.Name)
		}
		id := s.zones.nextID()
		s.zones.put(id, &zone{id, z.Name, z.Description})
	}
	s.pools.put(0, &pool{id: 0, name: "default", description: "Default pool"})
	for _, p := range r.cfg.Pools {
		if _, ok := s.poolNamed(p.Name); ok || p.Name == "" {
			if p.Name == "default" {
				continue
			}
			return fmt.Errorf("pool %q is there twice or has no name", p.Name)
		}
		id := s.pools.nextID()
		s.pools.put(id, &pool{id, p.Name, p.Description})
	}
	for _, t := range r.cfg.Tags {
		if t.Name == "" {
			return fmt.Errorf("a tag has no name")
		}
		s.tags.put(t.Name, &tag{s.tags.nextID(), t.Name, t.Comment, t.Definition, t.KernelOpts})
	}
	return nil
}

func (r *Region) addDomains() error {
	s := r.state
	for i, d := range r.cfg.Domains {
		if _, ok := s.domainNamed(d.Name); ok || d.Name == "" {
			return fmt.Errorf("domain %q is there twice or has no name", d.Name)
		}
		id := i
		if i > 0 {
			id = s.domains.nextID()
		}
		s.domains.put(id, &domain{id, d.Name, d.TTL, !d.Unserved})
	}
	return nil
}

func (r *Region) addSubnets() error {
	for _, n := range r.cfg.Subnets {
		if err := r.addSubnet(n); err != nil {
			return fmt.Errorf("subnet %q: %w", n.CIDR, err)
		}
	}
	return nil
}

// firstVLAN is the number of the first VLAN that MAAS makes.
const firstVLAN = 5001

func (r *Region) addSubnet(n Subnet) error {
	s := r.state
	prefix, err := netip.ParsePrefix(n.CIDR)
	if err != nil || prefix != prefix.Masked() {
		return fmt.Errorf("cidr must be a network such as 10.0.0.0/24")
	}
	id := s.subnets.nextID()
	row := &subnet{id: id, name: n.Name, prefix: prefix, options: usualSubnetOptions()}
	if row.name == "" {
		row.name = n.CIDR
	}
	if n.Gateway != "" {
		if row.gateway, err = netip.ParseAddr(n.Gateway); err != nil {
			return fmt.Errorf("gateway %q is no address", n.Gateway)
		}
	}
	for _, server := range n.DNSServers {
		ip, err := netip.ParseAddr(server)
		if err != nil {
			return fmt.Errorf("DNS server %q is no address", server)
		}
		row.dnsServers = append(row.dnsServers, ip)
	}
	if err := r.addRanges(row, n.Reserved, false); err != nil {
		return err
	}
	if err := r.addRanges(row, n.Dynamic, true); err != nil {
		return err
	}
	row.vlan = r.vlanOf(n)
	s.subnets.put(id, row)
	return nil
}

// vlanOf finds or makes the untagged VLAN of a subnet's fabric.
func (r *Region) vlanOf(n Subnet) *vlan {
	s := r.state
	if v, ok := s.vlans.find(func(v *vlan) bool { return n.Fabric != "" && v.fabric.name == n.Fabric }); ok {
		return v
	}
	f := &fabric{id: s.fabrics.nextID(), name: n.Fabric}
	if f.name == "" {
		f.name = fmt.Sprintf("fabric-%d", f.id)
	}
	s.fabrics.put(f.id, f)
	v := &vlan{id: firstVLAN - 1 + s.vlans.nextID(), mtu: 1500, name: "untagged", fabric: f, space: r.spaceNamed(n.Space), dhcp: !n.NoDHCP}
	s.vlans.put(v.id, v)
	return v
}

func parseRange(text string) (addrRange, error) {
	first, last, ranged := strings.Cut(text, "-")
	if !ranged {
		last = first
	}
	a, err1 := netip.ParseAddr(strings.TrimSpace(first))
	b, err2 := netip.ParseAddr(strings.TrimSpace(last))
	if err1 != nil || err2 != nil || b.Less(a) {
		return addrRange{}, fmt.Errorf("range %q is neither an address nor a range such as 10.0.0.1-10.0.0.9", text)
	}
	return addrRange{a, b}, nil
}

func (r *Region) addImages() error {
	s := r.state
	t := &tx{state: s, r: r}
	for _, in := range r.cfg.Images {
		arch, _, _ := strings.Cut(in.Architecture, "/")
		if arch == "" {
			arch = "amd64"
		}
		os, series, prefixed := strings.Cut(in.Name, "/")
		if in.Name == "" {
			return fmt.Errorf("an image has no name")
		}
		if !prefixed {
			os, series = "custom", in.Name
		}
		if os != "custom" && knownSeries(series) != "" {
			kernels := in.Kernels
			if len(kernels) == 0 {
				kernels = []string{"ga-" + knownSeries(series), "hwe-" + knownSeries(series)}
			}
			for _, kernel := range kernels {
				t.addConfigured(&image{id: s.images.nextID(), name: in.Name, architecture: arch, kernel: kernel})
			}
			continue
		}
		base := in.BaseImage
		if base == "" && os == "custom" {
			base = commissioningImage
		}
		t.addConfigured(&image{id: s.images.nextID(), name: os + "/" + series, uploaded: true, architecture: arch, title: in.Title, base: base})
	}
	if r.cfg.DefaultSeries == "" {
		r.cfg.DefaultSeries = r.firstUbuntu()
	}
	return nil
}

func (r *Region) firstUbuntu() string {
	first := r.state.images.all()[0].name
	for _, i := range r.state.images.all() {
		if strings.HasPrefix(i.name, "ubuntu/") {
			return i.name
		}
	}
	return first
}

// knownSeries is the version number of an Ubuntu series, "" for others.
func knownSeries(series string) string {
	for _, s := range ubuntuSeries() {
		if s[0] == series {
			return s[1]
		}
	}
	return ""
}

func ubuntuSeries() [][2]string {
	return [][2]string{{"bionic", "18.04"}, {"focal", "20.04"}, {"jammy", "22.04"}, {"noble", "24.04"}, {"resolute", "26.04"}}
}
