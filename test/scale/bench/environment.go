package main

import (
	"context"
	"fmt"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/capmaas/cluster-api-provider-maas/internal/controllers"
	"github.com/capmaas/cluster-api-provider-maas/test/apiserver"
)

// environment is the API server that all scenarios share.
type environment struct {
	api        client.Client
	config     *rest.Config
	scheme     *runtime.Scheme
	kubeconfig []byte // of an administrator
	stop       func() error
}

func startEnvironment(ctx context.Context, checkout string) (*environment, error) {
	server, err := apiserver.Prepare(ctx, checkout, filepath.Join(checkout, "config/crd/bases"))
	if err != nil {
		return nil, err
	}
	e := &environment{stop: server.Stop}
	if e.config, err = server.Start(); err != nil {
		return nil, fmt.Errorf("start the API server: %w", err)
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
