package management

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"runtime"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
)

// What of the region others have to know.
const (
	// Domain is the region's DNS domain.
	Domain = "maas.sandbox"

	regionURL = "http://" + host.Region + ":5240/MAAS"
	// userName is the MAAS user of CAPMAAS.
	userName = "capmaas"
)

// hardware is one kind of machine that the region has. What it says of cores and memory is for choosing: a machine of the sandbox
// takes what it needs.
type hardware struct {
	cores, memoryMiB, diskGB int
	tags                     []string
}

// newAPIKey draws a key in MAAS's form.
func newAPIKey() (string, error) {
	random := make([]byte, 34)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("drawing an API key: %w", err)
	}
	text := hex.EncodeToString(random)
	return text[:18] + ":" + text[18:36] + ":" + text[36:], nil
}

// newRegion describes a MAAS region as a small company might have it, before anything was uploaded. imageDir is where it keeps that.
func newRegion(machines int, apiKey, imageDir string, booter simulator.Booter) simulator.Config {
	return simulator.Config{
		Seed:  int64(machines),
		Users: []simulator.User{{Name: userName, APIKey: apiKey, Admin: true}},
		Zones: []simulator.Zone{
			{Name: "rack-a", Description: "Left rack"}, {Name: "rack-b", Description: "Middle rack"}, {Name: "rack-c", Description: "Right rack"},
		},
		Pools: []simulator.Pool{{Name: "kubernetes", Description: "Machines for clusters"}},
		Tags: []simulator.Tag{
			{Name: "control-plane", Comment: "Fast disks, meant for control planes"},
			{Name: "worker", Comment: "Many cores, meant for workloads"},
			{Name: "nvme", Comment: "Has NVMe disks"},
		},
		Domains: []simulator.Domain{{Name: Domain}},
		Subnets: []simulator.Subnet{{
			Name: "lab", CIDR: host.Subnet, Gateway: host.Gateway, DNSServers: []string{host.Region},
			Reserved: []string{"10.20.0.1-10.20.0.9"},
		}},
		// What every MAAS has from its image stream. No content comes with it, so machines do not boot these.
		Images: []simulator.Image{
			{Name: "ubuntu/jammy", Architecture: runtime.GOARCH}, {Name: "ubuntu/noble", Architecture: runtime.GOARCH},
		},
		ImageDir:  imageDir,
		Machines:  newMachines(machines),
		Durations: simulator.Durations{Install: 2 * time.Second, PowerOn: time.Second, PowerOff: time.Second, Erase: 2 * time.Second},
		Boot:      booter,
		DNSAddr:   host.Region + ":53",
		PublicURL: regionURL,
	}
}

func newMachines(count int) []simulator.Machine {
	kinds := []hardware{
		{cores: 4, memoryMiB: 8 << 10, diskGB: 240, tags: []string{"control-plane", "nvme"}},
		{cores: 8, memoryMiB: 16 << 10, diskGB: 480, tags: []string{"worker"}},
		{cores: 16, memoryMiB: 32 << 10, diskGB: 960, tags: []string{"worker", "nvme"}},
	}
	zones := []string{"rack-a", "rack-b", "rack-c"}
	out := make([]simulator.Machine, 0, count)
	for i := range count {
		kind := kinds[i%len(kinds)]
		out = append(out, simulator.Machine{
			Hostname: machineName(i), Domain: Domain, Zone: zones[i/len(kinds)%len(zones)], Pool: "kubernetes", Tags: kind.tags,
			Architecture: runtime.GOARCH + "/generic", Cores: kind.cores, MemoryMiB: kind.memoryMiB, DiskGB: kind.diskGB,
			MAC: fmt.Sprintf("52:54:00:20:%02x:%02x", (i+1)>>8, (i+1)&0xff), Subnet: "lab",
		})
	}
	return out
}

// machineName gives machine i a name of two words, as MAAS does.
func machineName(i int) string {
	first := []string{"amber", "brave", "calm", "daring", "eager", "fair", "gentle", "happy", "keen", "lucky", "merry", "noble"}
	second := []string{"badger", "crane", "dingo", "egret", "falcon", "gecko", "heron", "ibex", "jackal", "koala", "lynx", "marten", "newt"}
	name := first[i%len(first)] + "-" + second[i%len(second)]
	if round := i / (len(first) * len(second)); round > 0 {
		name = fmt.Sprintf("%s-%d", name, round+1)
	}
	return name
}
