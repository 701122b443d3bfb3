package recipe

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// Go takes the newest version that anybody requires, and it must not be our own programs that make an old Kubernetes use newer libraries.
func TestOurProgramsRequireTheLibrariesOfTheOldestKubernetes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../components/kubernetes*/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var versions []string
	for _, file := range files {
		version, err := build.ModuleVersion(file, "k8s.io/kubernetes")
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, strings.Replace(version, "v1.", "v0.", 1))
	}
	if len(versions) < 2 {
		t.Fatalf("only %v are pinned: is the pattern right?", versions)
	}
	for _, module := range []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go"} {
		got, err := build.ModuleVersion("../components/workload/go.mod", module)
		if err != nil {
			t.Fatal(err)
		}
		if oldest := slices.Min(versions); got != oldest {
			t.Errorf("workload requires %s %s, and the oldest Kubernetes here is of %s", module, got, oldest)
		}
	}
}
