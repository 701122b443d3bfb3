package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator/scenario"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/follow"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/management"
)

func newStatus(p *places) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Say what runs and how far it is", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := p.layout()
			if err != nil {
				return err
			}
			running, err := host.Running(l)
			if errors.Is(err, os.ErrPermission) {
				err = cmp.Or(host.RequireRoot(), err)
			}
			if err != nil {
				return err
			}
			if !running {
				fmt.Println("no sandbox runs; start one with: make sandbox")
				return nil
			}
			return printStatus(cmd.Context(), l)
		},
	}
}

func printStatus(ctx context.Context, l host.Layout) error {
	control := management.NewControl(l)
	status, err := control.Status(ctx)
	if errors.Is(err, os.ErrNotExist) {
		fmt.Println("a sandbox is being built or started: there is nothing to show yet")
		return nil
	}
	if err != nil {
		return fmt.Errorf("a sandbox runs, but does not answer (logs: %s): %w", l.Logs(), err)
	}
	if !status.Ready {
		fmt.Println("the sandbox is being started")
	}
	printComponents(status)
	fmt.Println()
	settings, err := management.LoadSettings(l)
	if err != nil {
		return err
	}
	glance, gone, err := follow.Glance(ctx, l)
	if err != nil {
		return err
	}
	fmt.Print(glance)
	fmt.Println()
	printImages(settings.Image, status.Disks)
	printFaults(status.Faults)
	fmt.Printf("\nmanagement cluster  %s\nMAAS                http://127.0.0.1:%d/MAAS (%s)\n", l.ManagementKubeconfig(), settings.Ports.Maas, l.MaasEnvironment())
	if path := l.WorkloadKubeconfig(follow.ClusterName); !gone && exists(path) {
		fmt.Printf("workload cluster    %s\n", path)
	}
	return nil
}

func printComponents(status management.Status) {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "COMPONENT\tSTATE\tSINCE\tRESTARTS\tPID\tLOG")
	for _, c := range status.Components {
		fmt.Fprintf(out, "%s\t%s\t%s\t%d\t%d\t%s\n", c.Name, c.State, time.Since(c.Since).Round(time.Second), c.Restarts, c.Pid, c.Log)
	}
	_ = out.Flush() // Nobody can act on it.
}

// printFaults says what a scenario does in MAAS, if one is played.
func printFaults(faults []scenario.State) {
	if len(faults) == 0 {
		return
	}
	fmt.Println()
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "FAULT IN MAAS\tDOES\tACTIVE\tSTRUCK\tLAST")
	for _, f := range faults {
		last := ""
		if f.Last != nil {
			last = f.Last.Time.Format(time.TimeOnly) + " " + f.Last.What()
		}
		fmt.Fprintf(out, "%s\t%s\t%t\t%d\t%s\n", f.Fault.Name, f.Fault.Do, f.Active, f.Struck, last)
	}
	_ = out.Flush() // Nobody can act on it.
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
