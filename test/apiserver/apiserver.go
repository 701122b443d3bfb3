// Package apiserver prepares what the tests of several packages and the bench run against: a real API server that knows Cluster API.
package apiserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Prepare returns an API server, not started yet, with the CRDs of Cluster API in the version that the provider is built with, and
// those under the paths given. checkout is the top of this repository.
func Prepare(ctx context.Context, checkout string, crds ...string) (*envtest.Environment, error) {
	server, err := Program(checkout, "kube-apiserver")
	if err != nil {
		return nil, err
	}
	core, err := clusterAPI(ctx, filepath.Join(checkout, "test"))
	if err != nil {
		return nil, err
	}
	return &envtest.Environment{
		BinaryAssetsDirectory: filepath.Dir(server),
		ErrorIfCRDPathMissing: true,
		// On a busy machine these take their time.
		ControlPlaneStartTimeout: time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
		CRDDirectoryPaths: append(crds,
			filepath.Join(core, "core/config/crd/bases"),
			filepath.Join(core, "bootstrap/kubeadm/config/crd/bases"),
			filepath.Join(core, "controlplane/kubeadm/config/crd/bases"),
		),
	}, nil
}

// Program returns the path of a program that `make test-programs` builds.
func Program(checkout, name string) (string, error) {
	path, err := filepath.Abs(filepath.Join(checkout, "_build/bin", name))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is not built: run 'make test-programs': %w", name, err)
	}
	return path, nil
}

// clusterAPI returns where the Go command keeps the module of Cluster API that the module in folder depends on.
func clusterAPI(ctx context.Context, folder string) (string, error) {
	command := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api")
	command.Dir = folder
	out, err := command.CombinedOutput()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		return "", fmt.Errorf("look for the module of Cluster API: %w: %s", err, dir)
	}
	return dir, nil
}
