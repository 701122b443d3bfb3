package machines

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// writeIdentity writes into a machine's file system what the installer of MAAS leaves there: its name, its name servers, and
// where and with which key cloud-init asks for the machine's user data.
func writeIdentity(root string, m simulator.BootMachine) error {
	for path, text := range identity(m) {
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return fmt.Errorf("writing /%s: %w", path, err)
		}
		// The image may have a link there, which would lead out of the machine.
		if err := os.Remove(full); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("writing /%s: %w", path, err)
		}
		mode := os.FileMode(0o644)
		if strings.Contains(path, "cloud.cfg.d") {
			mode = 0o600
		}
		if err := os.WriteFile(full, []byte(text), mode); err != nil {
			return fmt.Errorf("writing /%s: %w", path, err)
		}
	}
	return nil
}

// identity is the text of these files, by path.
func identity(m simulator.BootMachine) map[string]string {
	fqdn := m.Hostname
	if m.Domain != "" {
		fqdn += "." + m.Domain
	}
	address := m.Interface.Address
	if prefix, err := netip.ParsePrefix(address); err == nil {
		address = prefix.Addr().String()
	}
	var resolver strings.Builder
	for _, server := range m.Nameservers {
		fmt.Fprintf(&resolver, "nameserver %s\n", server)
	}
	if len(m.SearchDomains) > 0 {
		fmt.Fprintf(&resolver, "search %s\n", strings.Join(m.SearchDomains, " "))
	}
	return map[string]string{
		"etc/hostname":    m.Hostname + "\n",
		"etc/hosts":       fmt.Sprintf("127.0.0.1 localhost\n%s %s %s\n::1 localhost ip6-localhost ip6-loopback\n", address, fqdn, m.Hostname),
		"etc/resolv.conf": resolver.String(),
		"etc/cloud/cloud.cfg.d/90-maas.cfg": fmt.Sprintf("datasource_list: [MAAS]\ndatasource:\n  MAAS:\n"+
			"    metadata_url: %s\n    consumer_key: %s\n    token_key: %s\n    token_secret: %s\n",
			quote(m.MetadataURL), quote(m.ConsumerKey), quote(m.TokenKey), quote(m.TokenSecret)),
	}
}

// quote makes any text a YAML string.
func quote(text string) string {
	// JSON strings are YAML strings; text always marshals.
	out, _ := json.Marshal(text)
	return string(out)
}
