package recipe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
	"github.com/capmaas/cluster-api-provider-maas/images/store"
)

// store is containerd's folder with all images imported and unpacked, so that a machine has them without a registry, and at once.
func (r *Recipe) store() build.Step {
	return build.Step{
		Name:    r.name(storeStep),
		Title:   "image store with Kubernetes " + r.version,
		Lane:    build.Assembling,
		Needs:   []string{r.name(containersStep), r.shared(containerdStep)},
		Files:   []string{r.code(), r.Source("images", "store")},
		Keep:    build.NotTest,
		Outputs: []string{r.parts("containerd", "io.containerd.metadata.v1.bolt", "meta.db")},
		Root:    true,
		Run:     r.fillStore,
	}
}

func (r *Recipe) fillStore(ctx context.Context, s *build.Session) error {
	dir, remove, err := s.Scratch()
	if err != nil {
		return err
	}
	defer remove()
	root := filepath.Join(dir, "containerd")
	d, err := r.startContainerd(ctx, s, root)
	if err != nil {
		return err
	}
	// Stopped before anything is done with its folder, which is complete then.
	if err := errors.Join(d.importAll(ctx), d.stop()); err != nil {
		return err
	}
	if err := store.Normalise(root, epoch()); err != nil {
		return err
	}
	return build.ReplaceTree(root, r.parts("containerd"))
}

// daemon is a containerd of our own, with no relation to one that the host may run.
type daemon struct {
	*build.Session
	recipe *Recipe
	run    string // its sockets and state
	socket string
	cancel context.CancelFunc
	exit   chan error
}

// startContainerd returns when it answers.
func (r *Recipe) startContainerd(ctx context.Context, s *build.Session, root string) (*daemon, error) {
	run, err := r.socketFolder()
	if err != nil {
		return nil, err
	}
	d := &daemon{Session: s, recipe: r, run: run, socket: filepath.Join(run, "sock"), exit: make(chan error, 1)}
	config := filepath.Join(run, "config.toml")
	if err := os.WriteFile(config, []byte(storeConfig(root, run, d.socket)), 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(run))
	}
	ctx, d.cancel = context.WithCancel(ctx)
	// It starts no programs of its own, and does not work in a process namespace without a /proc to match.
	// Unpacking mounts, so it gets a mount namespace of its own.
	go func() {
		d.exit <- s.Exec(ctx, build.Command{Argv: []string{r.node("containerd"), "--config", config}, OwnMounts: true, Gentle: true})
	}()
	for deadline := time.Now().Add(30 * time.Second); ; {
		if _, err = d.ctr(ctx, "version"); err == nil {
			return d, nil
		}
		select {
		case exit := <-d.exit:
			d.cancel()
			return nil, errors.Join(fmt.Errorf("containerd ended at once: %w", exit), os.RemoveAll(run))
		case <-time.After(200 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(fmt.Errorf("containerd does not answer: %w", err), d.stop())
		}
	}
}

// socketFolder makes an empty folder whose path is short: that of a socket may have 107 characters, so it cannot lie in the output
// folder. Its name follows from that folder, so that what a killed build left is found and removed.
func (r *Recipe) socketFolder() (string, error) {
	sum := sha256.Sum256([]byte(r.parts()))
	dir := filepath.Join(os.TempDir(), "capmaas-store-"+hex.EncodeToString(sum[:])[:10])
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("clearing %s: %w", dir, err)
	}
	// It fails if somebody else was faster: they do not get at what we do there.
	return dir, os.Mkdir(dir, 0o700)
}

func storeConfig(root, run, socket string) string {
	return fmt.Sprintf("version = 3\nroot = %q\nstate = %q\ndisabled_plugins = [%s]\n\n[grpc]\n  address = %q\n",
		root, filepath.Join(run, "state"),
		`"io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime", "io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt", "io.containerd.nri.v1.nri"`,
		socket)
}

func (d *daemon) ctr(ctx context.Context, args ...string) (string, error) {
	return d.Output(ctx, build.Command{Argv: append([]string{d.recipe.node("ctr"), "--address", d.socket, "--namespace", "k8s.io"}, args...)})
}

// importAll imports the archive and makes sure that every image is there and unpacked.
func (d *daemon) importAll(ctx context.Context) error {
	// Unpacking is left to containerd, which has the mount namespace for it.
	if _, err := d.ctr(ctx, "images", "import", d.recipe.parts("container-images.tar")); err != nil {
		return err
	}
	wanted, err := os.ReadFile(d.recipe.parts("container-images.txt"))
	if err != nil {
		return err
	}
	listed, err := d.ctr(ctx, "images", "list", "--quiet")
	if err != nil {
		return err
	}
	names := strings.Fields(listed)
	for _, image := range strings.Fields(string(wanted)) {
		if !slices.Contains(names, image) {
			return fmt.Errorf("image %s is not in the store after the import; there are %s", image, strings.Join(names, ", "))
		}
	}
	return d.checkUnpacked(ctx)
}

// checkUnpacked looks for committed snapshots: each layer that is unpacked is one. A machine would unpack its images itself, and slowly.
func (d *daemon) checkUnpacked(ctx context.Context) error {
	snapshots, err := d.ctr(ctx, "snapshots", "list")
	if err != nil {
		return err
	}
	if !strings.Contains(snapshots, "Committed") {
		return errors.New("the images were imported but not unpacked")
	}
	return nil
}

// stop ends containerd.
func (d *daemon) stop() error {
	d.cancel()
	err := <-d.exit
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(d.run))
}
