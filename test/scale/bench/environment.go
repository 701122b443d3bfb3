package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/capmaas/cluster-api-provider-maas/internal/controllers"
)

// environment is the API server that all scenarios share.
type environment struct {
	api        client.Client
	config     *rest.Config
	scheme     *runtime.Scheme
	kubeconfig []byte // of an administrator
	stop       func() error
}

func startEnvironment(checkout string) (*environment, error) {
	core, err := moduleDir(filepath.Join(checkout, "test"), "sigs.k8s.io/cluster-api")
	if err != nil {
		return nil, err
	}
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join(checkout, "_build/bin")
	}
	server := &envtest.Environment{
		BinaryAssetsDirectory:    assets,
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
		CRDDirectoryPaths: []string{
			filepath.Join(core, "core/config/crd/bases"),
			filepath.Join(core, "bootstrap/kubeadm/config/crd/bases"),
			filepath.Join(core, "controlplane/kubeadm/config/crd/bases"),
			filepath.Join(checkout, "config/crd/bases"),
		},
	}
	e := &environment{stop: server.Stop}
	if e.config, err = server.Start(); err != nil {
		return nil, fmt.Errorf("start the API server ('make bench' builds it): %w", err)
	}
	if err := e.prepare(server); err != nil {
		_ = server.Stop()
		return nil, err
	}
	return e, nil
}

func (e *environment) prepare(server *envtest.Environment) error {
	// What plays Cluster API must not be what limits.
	e.config.QPS = -1
	user, err := server.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return fmt.Errorf("make a user: %w", err)
	}
	if e.kubeconfig, err = user.KubeConfig(); err != nil {
		return fmt.Errorf("make a kubeconfig: %w", err)
	}
	if e.scheme, err = controllers.NewScheme(); err != nil {
		return err
	}
	e.api, err = client.New(e.config, client.Options{Scheme: e.scheme})
	return err
}

// moduleDir returns where the Go command keeps a module that the module in folder depends on.
func moduleDir(folder, module string) (string, error) {
	command := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}", module)
	command.Dir = folder
	out, err := command.CombinedOutput()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		return "", fmt.Errorf("look for the module %s: %w: %s", module, err, dir)
	}
	return dir, nil
}
