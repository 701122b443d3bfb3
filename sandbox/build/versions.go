package build

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// moduleVersion is the version of a module that a go.mod file requires: the go.mod files of the components are the one
// place where versions are said.
func moduleVersion(goMod, module string) (string, error) {
	content, err := os.ReadFile(goMod)
	if err != nil {
		return "", fmt.Errorf("finding the version of %s: %w", module, err)
	}
	require := regexp.MustCompile(`(?m)^(?:require)?\s+` + regexp.QuoteMeta(module) + `\s+(v[^\s]+)`)
	match := require.FindSubmatch(content)
	if match == nil {
		return "", fmt.Errorf("%s does not require %s", goMod, module)
	}
	return string(match[1]), nil
}

// version is like moduleVersion for a component; a step's title can do without it.
func (p *project) version(component, module string) string {
	version, err := moduleVersion(p.component(component, "go.mod"), module)
	if err != nil {
		return "of unknown version"
	}
	return version
}

// kubernetesVersion is the version of all Kubernetes programs, with its leading v.
func (p *project) kubernetesVersion() string {
	return p.version("kubernetes", "k8s.io/kubernetes")
}

// stampVersion returns linker flags that tell the program its version, in the form that Kubernetes programs share.
func stampVersion(version string, packages ...string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 3 {
		return ""
	}
	var flags strings.Builder
	for _, pkg := range packages {
		for _, value := range []string{"gitVersion=" + version, "gitMajor=" + parts[0], "gitMinor=" + parts[1], "gitTreeState=clean"} {
			fmt.Fprintf(&flags, " -X %s.%s", pkg, value)
		}
	}
	return flags.String()
}
