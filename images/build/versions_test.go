package build

import (
	"path/filepath"
	"testing"
)

func TestModuleVersionIsWhatGoModRequires(t *testing.T) {
	t.Parallel()
	goMod := filepath.Join(t.TempDir(), "go.mod")
	write(t, goMod, "module x\n\nrequire example.com/one v1.2.3\n\nrequire (\n\texample.com/two/v2 v2.0.1 // indirect\n)\n\nreplace example.com/three => example.com/three v9.9.9\n")
	for module, want := range map[string]string{"example.com/one": "v1.2.3", "example.com/two/v2": "v2.0.1", "example.com/three": "", "example.com/two": ""} {
		got, err := ModuleVersion(goMod, module)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v", module, got, err)
		}
	}
}

func TestStampVersionTellsAllParts(t *testing.T) {
	t.Parallel()
	got := StampVersion("v1.36.3", "p/version")
	want := " -X p/version.gitVersion=v1.36.3 -X p/version.gitMajor=1 -X p/version.gitMinor=36 -X p/version.gitTreeState=clean"
	if got != want {
		t.Errorf("%q", got)
	}
}
