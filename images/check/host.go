package check

import (
	"context"
	"slices"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// needHost installs what this machine lacks. Where that is nothing, it says nothing.
func (s *session) needHost(ctx context.Context, needs []build.HostNeed) error {
	if !slices.ContainsFunc(needs, build.HostNeed.Missing) {
		return nil
	}
	list := func(*build.Project) ([]build.Step, error) {
		return []build.Step{build.Install("check-packages", needs)}, nil
	}
	return build.Run(ctx, build.Options{Repo: s.Repo, Out: s.out, Log: s.Log}, list)
}
