package check

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

// static is a check of an unpacked image that boots nothing.
type static struct {
	name, what string
	// look returns a detail, such as a version; or a problem.
	look func(ctx context.Context, r *root) (detail string, err error)
}

// staticChecks are all of them. A new one is one more entry.
func staticChecks() []static {
	return slices.Concat(maasChecks(), bootChecks(), kubernetesChecks(), cleanChecks(), ownerChecks())
}

func staticNames() []string {
	var names []string
	for _, check := range staticChecks() {
		names = append(names, check.name)
	}
	return names
}

// checkStatic unpacks the image, and does those that are wanted.
func (s *session) checkStatic(ctx context.Context) error {
	if err := s.unpack(ctx); err != nil {
		return err
	}
	programs, err := newChroot(s.root(), s.scratch("chroot"))
	if err != nil {
		return fmt.Errorf("making a folder for the chroot: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("finding this machine's name: %w", err)
	}
	r := &root{dir: s.root(), manifest: s.manifest, run: programs.run, buildHost: host, versions: s.report.Versions}
	if err := r.list(); err != nil {
		return fmt.Errorf("listing the image's files: %w", err)
	}
	for _, check := range staticChecks() {
		if !s.wanted("chroot", check.name) {
			continue
		}
		start := time.Now()
		detail, err := check.look(ctx, r)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.add(result("chroot", check.name, check.what, detail, time.Since(start), err))
	}
	return nil
}
