package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/images/container"
)

// containerLimit is far more than a boot in a container takes, which is about 10 s: a busy machine is no failure.
const containerLimit = 5 * time.Minute

// containerBoots is the name of the check that there is a boot at all.
const containerBoots = "container-boot"

// containerBoot are the checks of a boot as a container.
func containerBoot() []bootCheck {
	return append(everyBoot("container"), []bootCheck{
		{"container-guards", "it knows that it is in a container, and leaves hardware and the host's kernel alone", func(b boot) (string, error) {
			if b.fact("container-machine") != "yes" {
				return "", problemf("see container-machine.service", "that container-machine.service did not run: %q", b.fact("container-machine"))
			}
			if len(b.facts["laid"]) == 0 {
				return "", problemf("see /usr/lib/container-machine/setup", "no files for containers in their places")
			}
			return plural(len(b.facts["laid"]), "file") + " laid over", nil
		}},
	}...)
}

// containers is a runtime with the image's own runc, which is one more thing that is tried so, and always at hand.
func (s *session) containers() (*container.Runtime, error) {
	return container.New(container.Config{Runc: filepath.Join(s.root(), "usr", "local", "bin", "runc"), State: s.scratch("runc"), Cgroup: "/"})
}

// containerName is one for each output folder, so that checks in two checkouts do not meet; and always the same, so that what a killed check
// left is found.
func (s *session) containerName() string {
	sum := sha256.Sum256([]byte(s.out))
	return instance + "-" + hex.EncodeToString(sum[:4])
}

// checkContainer boots the image as the sandbox does, but without a network.
func (s *session) checkContainer(ctx context.Context) error {
	if err := s.unpack(ctx); err != nil {
		return err
	}
	runtime, err := s.containers()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, containerLimit, fmt.Errorf("no end of the boot in %s", containerLimit))
	defer cancel()
	start := time.Now()
	b, err := s.bootContainer(ctx, runtime)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = context.Cause(ctx)
	}
	took := time.Since(start)
	if err != nil && errors.Is(err, context.Canceled) {
		return err
	}
	s.add(result("container", containerBoots, "it boots, and switches itself off", fmt.Sprintf("%.0f s", took.Seconds()), took, err))
	if err == nil {
		s.judgeBoot("container", containerBoot(), b, 0)
	}
	return nil
}

func (s *session) bootContainer(ctx context.Context, runtime *container.Runtime) (b boot, err error) {
	log := s.log("container")
	if err := os.RemoveAll(log); err != nil {
		return boot{}, err
	}
	dir := s.scratch("machine")
	defer func() { err = errors.Join(err, runtime.Remove(context.WithoutCancel(ctx), s.containerName(), dir)) }()
	running, err := runtime.Start(ctx, container.Machine{Name: s.containerName(), Dir: dir, Root: s.root(), Console: log, Prepare: seedContainer})
	if err != nil {
		return boot{}, err
	}
	said, err := s.askContainer(ctx, running)
	if err != nil {
		return boot{}, err
	}
	if err := appendTo(log, said); err != nil {
		return boot{}, err
	}
	if err := running.PowerOff(ctx); err != nil {
		return boot{}, err
	}
	return boot{manifest: s.manifest, facts: readFacts(said), log: log}, nil
}

// seedContainer puts data for cloud-init where it looks without a disk, and says which source to take, as curtin does for MAAS.
func seedContainer(root string) error {
	if err := writeSeed(filepath.Join(root, "var", "lib", "cloud", "seed", "nocloud"), userData("")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "etc", "cloud", "cloud.cfg.d", "99-image-check.cfg"), []byte("datasource_list: [NoCloud, None]\n"), 0o644)
}

// askContainer runs the report inside. At first there is nobody who could.
func (s *session) askContainer(ctx context.Context, running *container.Running) (string, error) {
	for {
		said, err := running.Exec(ctx, "sh", "-c", bootReport)
		if err == nil && slices.Contains([]string{"running", "degraded"}, boot{facts: readFacts(said)}.fact("state")) {
			return said, nil
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-running.Ended():
			return "", errors.Join(errors.New("it ended by itself"), err)
		case <-time.After(time.Second):
		}
	}
}

// clearContainer ends what a killed check may have left.
func (s *session) clearContainer(ctx context.Context) error {
	if _, err := os.Stat(s.scratch("runc")); err != nil {
		return nil
	}
	runtime, err := s.containers()
	if err != nil {
		return err
	}
	return runtime.Remove(ctx, s.containerName(), s.scratch("machine"))
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}
