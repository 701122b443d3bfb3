package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/machines"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/management"
)

func newLogs(p *places) *cobra.Command {
	return &cobra.Command{
		Use: "logs [MACHINE]", Short: "Say what happened in a machine and where its logs are; without one, list all logs", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := p.layout()
			if err != nil {
				return err
			}
			if err := host.RequireRoot(); err != nil {
				return err
			}
			if len(args) == 0 {
				return listLogs(l)
			}
			return showMachine(cmd.Context(), l, args[0])
		},
	}
}

// listLogs lists the logs that are there, of the sandbox that runs or of the last one.
func listLogs(l host.Layout) error {
	components, err := filepath.Glob(filepath.Join(l.Logs(), "*.log"))
	if err != nil {
		return err
	}
	consoles, err := filepath.Glob(l.Console("*"))
	if err != nil {
		return err
	}
	if len(components)+len(consoles) == 0 {
		return errors.New("there are no logs: no sandbox was started here yet")
	}
	fmt.Println("Components (the sandbox itself, etcd, managers; capmaas is the provider):")
	for _, path := range components {
		fmt.Println("  " + path)
	}
	fmt.Println("Consoles of machines:")
	for _, path := range consoles {
		fmt.Println("  " + path)
	}
	fmt.Println("More about one machine: " + l.Command("logs", "<name>"))
	return nil
}

// consoleLines is how many lines of a console are shown.
const consoleLines = 25

// showMachine shows how a machine fares. Its console log outlives it; the other logs are on its disk.
func showMachine(ctx context.Context, l host.Layout, machine string) error {
	found, running, err := findMachine(ctx, l, machine)
	if err != nil {
		return err
	}
	console := l.Console(found.Hostname)
	if _, err := os.Stat(console); err != nil {
		if running {
			return fmt.Errorf("machine %s was never switched on: it is %s, and has no logs", found.Hostname, found.StatusName)
		}
		return fmt.Errorf("no sandbox runs, and the last one left no console log of a machine %q; '%s' lists what there is", machine, l.Command("logs", ""))
	}
	fmt.Printf("the console of %s, at its end:\n", found.Hostname)
	fmt.Println(host.Tail(console, consoleLines))
	fmt.Println()
	if !running {
		fmt.Printf("all of it: %s\n", console)
		return nil
	}
	fmt.Printf("machine %s (%s) is %s, power %s\n", found.Hostname, found.SystemID, found.StatusName, found.PowerState)
	fmt.Printf("  console                  %s\n", console)
	disk := l.Disk(found.SystemID)
	if _, err := os.Stat(machines.CloudInitLog(disk)); err == nil {
		fmt.Printf("  cloud-init and kubeadm   %s\n", machines.CloudInitLog(disk))
	}
	if found.PowerState == "on" {
		fmt.Printf("  kubelet and all else     %s, then: journalctl -u kubelet\n", l.Command("shell", found.Hostname))
	}
	if words := machines.BootstrapFailure(disk); len(words) > 0 {
		fmt.Printf("cloud-init failed; what tells why:\n  %s\n", strings.Join(words, "\n  "))
	}
	return nil
}

// findMachine asks the region for a machine, by its name or system ID. When no sandbox runs, only the name is known.
func findMachine(ctx context.Context, l host.Layout, machine string) (found simulator.MachineSnapshot, running bool, err error) {
	if running, err = host.Running(l); err != nil || !running {
		return simulator.MachineSnapshot{Hostname: machine}, false, err
	}
	snapshot, err := management.NewControl(l).Snapshot(ctx)
	if err != nil {
		return found, true, err
	}
	for _, m := range snapshot.Machines {
		if m.SystemID == machine || m.Hostname == machine {
			return m, true, nil
		}
	}
	return found, true, fmt.Errorf("the MAAS region has no machine %q; '%s' lists them", machine, l.Command("status", ""))
}
