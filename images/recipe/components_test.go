package recipe

import (
	"os"
	"path/filepath"
	"regexp"
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

// One cache of the compiler serves all modules only where they agree, and a cold build must not compile the same
// libraries twice.
func TestModulesAgreeOnTheVersionsOfSharedLibraries(t *testing.T) {
	t.Parallel()
	shared := regexp.MustCompile(`(?m)^\s+((?:k8s\.io|sigs\.k8s\.io|golang\.org/x|google\.golang\.org|go\.opentelemetry\.io|github\.com/go-openapi|github\.com/prometheus)/\S+) (v\S+)`)
	want := make(map[string]string)
	for _, goMod := range []string{"../components/kubernetes/go.mod", "../../go.mod", "../../sandbox/go.mod"} {
		content, err := os.ReadFile(goMod)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range shared.FindAllStringSubmatch(string(content), -1) {
			module, version := match[1], match[2]
			if before, found := want[module]; found && before != version && before != "v0.0.0" {
				t.Errorf("%s has %s %s, and Kubernetes is built with %s", goMod, module, version, before)
			} else if !found && strings.Contains(goMod, "kubernetes") {
				want[module] = version
			}
		}
	}
	if len(want) < 20 {
		t.Errorf("only %d shared libraries were found: is the pattern right?", len(want))
	}
}
