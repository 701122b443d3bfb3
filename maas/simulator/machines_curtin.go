package simulator

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// readCurtinConfig answers what the installer is told, as YAML.
func readCurtinConfig(c *call) (*answer, *refusal) {
	m := c.machine
	if !m.status.in(StatusDeploying, StatusDeployed, StatusFailedDeployment) {
		return nil, text(http.StatusBadRequest, "Machine "+m.hostname+" is not in a deployment state.")
	}
	return &answer{status: http.StatusOK, contentType: typePlain, body: []byte(c.curtinConfig(m))}, nil
}

func (t *tx) curtinConfig(m *machine) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	const archive = "deb http://archive.ubuntu.com/ubuntu/ $RELEASE main restricted universe"
	line("apt:\n  preserve_sources_list: false\n  proxy: http://%s:8000/", t.r.publicHost())
	if t.r.since(3, 5) {
		line("  sources: {}")
	}
	line("  sources_list: '%s\n    multiverse\n\n    # %s\n    multiverse\n\n    '", archive, strings.Replace(archive, "deb", "deb-src", 1))
	if m.hweKernel != nil {
		line("kernel:\n  mapping: {}\n  package: linux-%s", strings.ReplaceAll(*m.hweKernel, "ga-", "generic-"))
	}
	line("network:\n  config:")
	for _, n := range m.nics {
		line("  - id: %s\n    mac_address: %s\n    mtu: %d\n    name: %s\n    type: physical", n.name, n.mac, n.vlan.mtu, n.name)
		t.curtinLinks(n, line)
	}
	line("  version: 1\npartitioning_commands:\n  builtin:\n  - curtin\n  - block-meta\n  - custom\nstorage:\n  config:")
	for i, d := range m.disks {
		line("  - grub_device: %t\n    id: %s\n    model: %s\n    name: %s\n    ptable: gpt\n    serial: %s\n    type: disk\n    wipe: superblock",
			i == 0, d.name, d.model, d.name, d.serial)
	}
	line("  version: 1\nverbosity: 3")
	return out.String()
}

// curtinLinks writes the addresses of an interface.
func (t *tx) curtinLinks(n nic, line func(string, ...any)) {
	if len(n.links) > 0 {
		line("    subnets:")
	}
	for _, l := range n.links {
		row, found := t.addresses.get(l.addr)
		if !found || !row.ip.IsValid() || l.subnet == nil {
			line("    - type: manual")
			continue
		}
		line("    - address: %s/%d", row.ip, l.subnet.prefix.Bits())
		if l.subnet.gateway.IsValid() {
			line("      gateway: %s", l.subnet.gateway)
		}
		line("      type: static")
	}
}

// publicHost is how machines call the region's host.
func (r *Region) publicHost() string {
	if at, err := url.Parse(r.publicURL); err == nil && at.Hostname() != "" {
		return at.Hostname()
	}
	return "127.0.0.1"
}
