package machines

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// Disk says what a machine's disk was made of.
type Disk struct {
	SystemID string `json:"systemID"`
	Hostname string `json:"hostname"`
	// Image is the name of the boot resource, such as custom/debian-12-k8s-v1.36.3, and SHA256 the checksum of its content.
	Image  string `json:"image"`
	SHA256 string `json:"sha256"`
}

type disk struct {
	Disk
	// root is the unpacked image.
	root string
}

// Disks lists the disks of all machines that have one, by system ID.
func (b *Booter) Disks() []Disk {
	b.mu.Lock()
	all := make([]*machine, 0, len(b.machines))
	for _, m := range b.machines {
		all = append(all, m)
	}
	b.mu.Unlock()
	var out []Disk
	for _, m := range all {
		if d := m.disk.Load(); d != nil {
			out = append(out, d.Disk)
		}
	}
	slices.SortFunc(out, func(a, b Disk) int { return strings.Compare(a.SystemID, b.SystemID) })
	return out
}

// unpacked finds the root file system of the image that a machine was deployed with. As long as it has to wait for it, the machine's
// console says so, as that of an installer does.
func (b *Booter) unpacked(ctx context.Context, boot simulator.BootMachine) (*disk, error) {
	if boot.ImageFile == "" {
		return nil, fmt.Errorf("image %s: %w", boot.Image, errNotUploaded)
	}
	console, err := os.OpenFile(b.console(boot), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the console log: %w", err)
	}
	defer console.Close()
	said, begin := false, time.Now()
	root, err := b.cfg.Roots.Get(ctx, boot.ImageFile, boot.ImageSHA256, func(done, total int64) {
		if !said {
			said = true
			b.cfg.Installing(boot.SystemID, "unpacking "+boot.Image)
		}
		fmt.Fprintf(console, "installing %s: %d of %d MB unpacked\n", boot.Image, done/1e6, total/1e6)
	})
	if err != nil {
		fmt.Fprintf(console, "installing %s: %v\n", boot.Image, err)
		return nil, fmt.Errorf("image %s: %w", boot.Image, err)
	}
	if said {
		b.cfg.Installing(boot.SystemID, "unpacked "+boot.Image)
		fmt.Fprintf(console, "installing %s: unpacked after %s\n", boot.Image, time.Since(begin).Round(time.Second))
	}
	return &disk{Disk{boot.SystemID, boot.Hostname, boot.Image, boot.ImageSHA256}, root}, nil
}
