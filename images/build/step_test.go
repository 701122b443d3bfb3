package build

import (
	"slices"
	"strings"
	"testing"
)

func TestOnlySelectsWithAllThatIsNeeded(t *testing.T) {
	t.Parallel()
	p, _ := newTestProject(t)
	var r recorder
	all := []Step{r.step(p, "a"), r.step(p, "b"), r.step(p, "c", "a"), r.step(p, "d", "c")}
	steps, err := selectSteps(all, []string{"d"})
	if err != nil {
		t.Fatal(err)
	}
	if names := stepNames(steps); !slices.Equal(names, []string{"a", "c", "d"}) {
		t.Errorf("selected %v", names)
	}
	if _, err := selectSteps(all, []string{"nonsense"}); err == nil || !strings.Contains(err.Error(), "a, b, c, d") {
		t.Errorf("an unknown step: %v", err)
	}
}
