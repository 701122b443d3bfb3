package build

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
)

// store is containerd's folder with all images imported and unpacked. Every machine gets it as hard links, so a new
// machine has its images at once and hardly any disk is used.
func (p *project) store() step {
	return step{
		name:    storeStep,
		title:   "image store of the machines",
		lane:    assembling,
		needs:   []string{imagesStep, containerdStep},
		files:   []string{p.recipes()},
		keep:    notTest,
		outputs: []string{p.path("machine", "containerd", "io.containerd.metadata.v1.bolt", "meta.db")},
		root:    true,
		run:     fillStore,
	}
}

func fillStore(ctx context.Context, s *session) (err error) {
	dir, remove, err := s.scratch()
	if err != nil {
		return err
	}
	defer remove()
	root := filepath.Join(dir, "containerd")
	d, err := s.startContainerd(ctx, root)
	if err != nil {
		return err
	}
	if err = d.importAll(ctx); err != nil {
		return errors.Join(err, d.stop())
	}
	if err = d.stop(); err != nil {
		return err
	}
	return replaceTree(root, s.path("machine", "containerd"))
}

// daemon is a containerd of our own, with no relation to one that the host may run.
type daemon struct {
	*session
	run    string // its sockets and state
	socket string
	cancel context.CancelFunc
	exit   chan error
}

// startContainerd returns when it answers.
func (s *session) startContainerd(ctx context.Context, root string) (*daemon, error) {
	run, err := s.socketFolder()
	if err != nil {
		return nil, err
	}
	d := &daemon{session: s, run: run, socket: filepath.Join(run, "sock"), exit: make(chan error, 1)}
	config := filepath.Join(run, "config.toml")
	if err := os.WriteFile(config, []byte(storeConfig(root, run, d.socket)), 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(run))
	}
	ctx, d.cancel = context.WithCancel(ctx)
	// It starts no programs of its own, and does not work in a process namespace without a /proc to match.
	// Unpacking mounts, so it gets a mount namespace of its own.
	go func() {
		d.exit <- s.exec(ctx, command{argv: []string{s.node("containerd"), "--config", config}, ownMounts: true, gentle: true})
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
func (s *session) socketFolder() (string, error) {
	sum := sha256.Sum256([]byte(s.out))
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
	return d.output(ctx, command{argv: append([]string{d.node("ctr"), "--address", d.socket, "--namespace", "k8s.io"}, args...)})
}

// importAll imports the archive and makes sure that every image is there and unpacked.
func (d *daemon) importAll(ctx context.Context) error {
	// Unpacking is left to containerd, which has the mount namespace for it.
	if _, err := d.ctr(ctx, "images", "import", d.path("machine", "images.tar")); err != nil {
		return err
	}
	wanted, err := readList(d.path("machine", "images.txt"))
	if err != nil {
		return err
	}
	listed, err := d.ctr(ctx, "images", "list", "--quiet")
	if err != nil {
		return err
	}
	names := strings.Fields(listed)
	for _, image := range wanted {
		if !slices.Contains(names, image) {
			return fmt.Errorf("image %s is not in the store after the import; there are %s", image, strings.Join(names, ", "))
		}
	}
	return d.checkUnpacked(ctx)
}

// checkUnpacked counts committed snapshots: each layer that is unpacked is one.
func (d *daemon) checkUnpacked(ctx context.Context) error {
	snapshots, err := d.ctr(ctx, "snapshots", "list")
	if err != nil {
		return err
	}
	if strings.Count(snapshots, "Committed") == 0 {
		return errors.New("the images were imported but not unpacked")
	}
	return nil
}

// stop ends containerd; its folder is complete on disk afterwards.
func (d *daemon) stop() error {
	d.cancel()
	err := <-d.exit
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(d.run))
}
