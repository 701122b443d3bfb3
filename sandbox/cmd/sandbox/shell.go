package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/capmaas/cluster-api-provider-maas/images/container"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/management"
)

func newShell(p *places) *cobra.Command {
	cmd := &cobra.Command{
		Use: "shell [MACHINE [COMMAND…]]", Short: "Open a shell in a machine, by its name in MAAS; without one, list them",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := p.layout()
			if err != nil {
				return err
			}
			if err := host.RequireRoot(); err != nil {
				return err
			}
			pid, err := host.InitPid(l)
			if err != nil {
				return err
			}
			if pid == 0 {
				return errors.New("no sandbox runs; start one with: make sandbox")
			}
			if len(args) == 0 {
				return listMachines(cmd.Context(), l)
			}
			return enter(cmd.Context(), l, pid, args[0], args[1:])
		},
	}
	// What follows the machine's name is the command's.
	cmd.Flags().SetInterspersed(false)
	return cmd
}

// listMachines says into which machines one can go.
func listMachines(ctx context.Context, l host.Layout) error {
	snapshot, err := management.NewControl(l).Snapshot(ctx)
	if err != nil {
		return err
	}
	fmt.Println("Machines that run:")
	none := true
	for _, m := range snapshot.Machines {
		if m.PowerState == "on" {
			none = false
			fmt.Printf("  %-18s %-10s %s\n", m.Hostname, m.StatusName, strings.Join(m.Addresses, " "))
		}
	}
	if none {
		fmt.Println("  none")
	}
	fmt.Println("Open a shell in one with: make sandbox-shell MACHINE=<name>")
	return nil
}

// enter runs a command, or a shell, in a machine. It replaces this process, so that the terminal and the exit code are its own.
func enter(ctx context.Context, l host.Layout, pid int, machine string, command []string) error {
	snapshot, err := management.NewControl(l).Snapshot(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(snapshot.Machines, func(m simulator.MachineSnapshot) bool { return m.SystemID == machine || m.Hostname == machine })
	if i < 0 {
		return fmt.Errorf("the MAAS region has no machine %q; 'make sandbox-shell' lists those that run", machine)
	}
	if m := snapshot.Machines[i]; m.PowerState != "on" {
		return fmt.Errorf("machine %s does not run: it is %s, power %s; 'make sandbox-shell' lists those that do", m.Hostname, m.StatusName, m.PowerState)
	}
	if len(command) == 0 {
		command = []string{"/bin/bash", "-l"}
	}
	if term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) {
		command = onTerminal(command)
	}
	env := []string{"TERM=" + os.Getenv("TERM"), "KUBECONFIG=/etc/kubernetes/admin.conf"}
	inside, err := container.Enter(l.Disk(snapshot.Machines[i].SystemID), env, command)
	if err != nil {
		return err
	}
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		return fmt.Errorf("finding nsenter: %w", err)
	}
	// First to where the machines were started from, and from there into one.
	args := append([]string{
		"nsenter", "--target", strconv.Itoa(pid), "--mount", "--net", "--pid", "--ipc", "--uts", "--root", "--wd", "--",
	}, inside...)
	//nolint:gosec // Running what the user asks for is what this is for.
	return syscall.Exec(nsenter, args, os.Environ())
}

// onTerminal runs a command on a terminal of the machine: what is the host's is none that programs there can open.
func onTerminal(command []string) []string {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return []string{"/usr/bin/script", "--quiet", "--return", "--command", "exec " + strings.Join(words, " "), "/dev/null"}
}
