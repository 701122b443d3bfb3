package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/controllers"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// managerCommand makes this program run the controllers, so that their time and memory are those of a process of their own.
const managerCommand = "manager"

// runManager is the measured process: the controllers as cmd/manager runs them, without what an installation adds.
func runManager(args []string) error {
	flags := flag.NewFlagSet(managerCommand, flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "")
	namespace := flags.String("namespace", "", "")
	endpoint := flags.String("maas", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctrl.SetLogger(klog.Background())
	ctx := ctrl.SetupSignalHandler()
	clock := checks.NewClock(nil)
	maasClient, err := maas.New(maas.Config{Endpoint: *endpoint, APIKey: simulator.DefaultAPIKey, Observe: clock.Observe})
	if err != nil {
		return err
	}
	scheme, err := controllers.NewScheme()
	if err != nil {
		return err
	}
	managerOptions, err := controllers.ManagerOptions(scheme, *namespace, 2*time.Hour)
	if err != nil {
		return err
	}
	managerOptions.Metrics = metricsserver.Options{BindAddress: "0"}
	managerOptions.HealthProbeBindAddress = "0"
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	config.UserAgent = controllers.UserAgent("bench")
	config.QPS = -1 // as controller-runtime sets it for cmd/manager
	mgr, err := ctrl.NewManager(config, managerOptions)
	if err != nil {
		return err
	}
	err = controllers.Setup(ctx, mgr, controllers.Options{MAAS: maasClient, Clock: clock, Version: "bench", MachineConcurrency: concurrency})
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// manager is that process, seen from outside.
type manager struct {
	command *exec.Cmd
	ended   chan error
	log     *os.File
}

// startManager starts the controllers for one namespace and one region, until they are stopped. Their log goes to a file in folder.
func startManager(folder, name, kubeconfig, namespace, endpoint string) (*manager, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, name+".manager.log"))
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(context.Background(), self, managerCommand, "-kubeconfig", kubeconfig, "-namespace", namespace, "-maas", endpoint)
	command.Stdout, command.Stderr = log, log
	// A terminal's Ctrl-C is for us: we stop it in order. And it never outlives us.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		_ = log.Close()
		return nil, fmt.Errorf("start the manager: %w", err)
	}
	m := &manager{command: command, ended: make(chan error, 1), log: log}
	go func() { m.ended <- command.Wait() }()
	return m, nil
}

// stop ends the manager. It fails if the manager had ended by itself.
func (m *manager) stop() error {
	defer m.log.Close()
	select {
	case err := <-m.ended:
		return fmt.Errorf("the manager ended by itself (see %s): %w", m.log.Name(), errors.Join(err, errors.New("unexpected end")))
	default:
	}
	_ = m.command.Process.Signal(syscall.SIGTERM) // it may be ending at this moment
	select {
	case err := <-m.ended:
		return err
	case <-time.After(30 * time.Second):
		_ = m.command.Process.Kill()
		return errors.Join(errors.New("the manager did not end in time, and was killed"), <-m.ended)
	}
}
