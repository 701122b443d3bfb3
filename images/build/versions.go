package build

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// ModuleVersion is the version of a module that a go.mod file requires: the go.mod files of the components are the one
// place where versions are said.
func ModuleVersion(goMod, module string) (string, error) {
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

// StampVersion returns linker flags that tell the program its version, in the form that Kubernetes programs share.
func StampVersion(version string, packages ...string) string {
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
