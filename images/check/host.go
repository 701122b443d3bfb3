package check

import (
	"context"
	"os"
	"os/exec"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// qemuNeeds are what a boot as a machine takes of this one.
func qemuNeeds() []build.HostNeed {
	return []build.HostNeed{
		{What: "qemu for machines of the kind amd64", Program: qemuProgram, Debian: "qemu-system-x86"},
		{What: "mkfs.ext4", Program: "mkfs.ext4", Debian: "e2fsprogs"},
	}
}

// needQEMU installs what is missing.
func (s *session) needQEMU(ctx context.Context) error { return s.needHost(ctx, qemuNeeds()) }

// needHost installs those that are missing.
func (s *session) needHost(ctx context.Context, needs []build.HostNeed) error {
	missing := false
	for _, need := range needs {
		var err error
		if need.Program != "" {
			_, err = exec.LookPath(need.Program)
		} else {
			_, err = os.Stat(need.File)
		}
		missing = missing || err != nil
	}
	if !missing {
		return nil
	}
	list := func(*build.Project) ([]build.Step, error) {
		return []build.Step{build.Install("check-packages", needs)}, nil
	}
	return build.Run(ctx, build.Options{Repo: s.Repo, Out: s.out, Log: s.Log}, list)
}
