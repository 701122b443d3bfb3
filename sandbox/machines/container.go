package machines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// create makes the machine's container, up to but without starting its init system, and returns the process that will become it.
func (b *Booter) create(ctx context.Context, m *machine) (int, error) {
	pidFile := filepath.Join(m.dir, "pid")
	// The runtime goes into the bundle before it connects, and the path of a socket must be short.
	if err := b.runc(ctx, "create", "--bundle", m.dir, "--pid-file", pidFile, "--console-socket", consoleSocket, m.name()); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(pidFile)
	if err != nil {
		return 0, fmt.Errorf("reading the machine's process: %w", err)
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// remove ends the machine's container. One that is not there is fine.
func (b *Booter) remove(ctx context.Context, name string) error {
	if _, err := os.Stat(filepath.Join(b.cfg.RuncState, name)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	// With many processes the kernel takes a while, during which the cgroup cannot be removed.
	var err error
	for range 20 {
		if err = b.runc(ctx, "delete", "--force", name); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(250 * time.Millisecond):
		}
	}
	return err
}

func (b *Booter) runc(ctx context.Context, args ...string) error {
	return run(ctx, b.cfg.Runc, append([]string{"--root", b.cfg.RuncState}, args...)...)
}

// writeSpec writes the container's description to where the runtime looks for it.
func writeSpec(dir string, spec any) error {
	text, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return fmt.Errorf("describing the machine: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), text, 0o600); err != nil {
		return fmt.Errorf("describing the machine: %w", err)
	}
	return nil
}
