package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const types = "package v1\n" + `
// Box is a kind.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=boxes,scope=Namespaced
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=` + "`.status.conditions[?(@.type==\"Ready\")].status`" + `,description="Whether it is shut"
// +kubebuilder:printcolumn:name="Lid",type=string,priority=10,JSONPath=` + "`.status.lid`" + `,description="Colour of the lid"
type Box struct{}

// BoxList is no resource.
// +kubebuilder:object:root=true
type BoxList struct{}
`

const conditionsOfBox = `package v1

import other "example.com/other"

// Conditions of a Box. Ready sums up BoxShut.
const (
	// BoxReadyCondition is True while it is shut.
	BoxReadyCondition = other.Ready
	// BoxShutCondition tells whether the lid is on.
	BoxShutCondition = "BoxShut"
	// BoxGoneCondition tells how far it is.
	BoxGoneCondition = "Gone"
)

// Reasons of BoxShut. More stand here while
// it rains.
const (
	// BoxShutReason: it is.
	BoxShutReason = "BoxShut"
	// BoxStuckReason: the lid is stuck, the left | right one. Do: pull, see
	// BoxShut or ` + "`BoxShut`" + `.
	BoxStuckReason = "Stuck"
)

// Reasons of Gone, beside Stuck.
const (
	// GoneReason: nothing is left.
	GoneReason = "Gone"
)
`

const events = `package telemetry

// Events of a Box.
const (
	// Opened: somebody opened it.
	Opened = "Opened"
)

// Actions of events. They are few.
const (
	// ActionOpen is opening.
	ActionOpen = "Open"
)
`

// written returns the page that is made from a kind with these conditions and events.
func written(t *testing.T, types, conditions, events string) (string, error) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"api/box_types.go": types, "api/box_conditions.go": conditions, "reasons.go": events,
		"other/other.go": "package other\n\n// Ready is used by others.\nconst Ready = \"Ready\"\n",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := read(filepath.Join(folder, "api"), filepath.Join(folder, "reasons.go"), func(importPath string) (string, error) {
		if importPath != "example.com/other" {
			return "", errors.New("no such package")
		}
		return filepath.Join(folder, "other"), nil
	})
	if err != nil {
		return "", err
	}
	return write(found), nil
}

func TestThePageHasWhatTheCodeSays(t *testing.T) {
	t.Parallel()
	page, err := written(t, types, conditionsOfBox, events)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"what is said of the kind":              "## Box\n\nReady sums up `BoxShut`.\n",
		"a condition of another package's name": "### Box: Ready\n\nIs True while it is shut.\n",
		"reasons, with what can be done": "### Box: BoxShut\n\nTells whether the lid is on.\n\n" +
			"| Reason | What it means | What you can do |\n|---|---|---|\n" +
			"| `BoxShut` | It is. | |\n" +
			"| `Stuck` | The lid is stuck, the left \\| right one. | Pull, see `BoxShut` or `BoxShut`. |\n" +
			"\nMore stand here while it rains.\n",
		"a reason of another condition": "| `Gone` | Nothing is left. | |\n| `Stuck` | The lid is stuck",
		"events without advice":         "### Events of a Box\n\n| Event | What happened |\n|---|---|\n| `Opened` | Somebody opened it. |\n",
		"actions":                       "| `Open` | Opening. |\n",
		"columns": "### Columns of boxes\n\n| Column | What it shows |\n|---|---|\n| `READY` | Whether it is shut. |\n" +
			"| `LID` | Colour of the lid. Only with `-o wide`. |\n",
	} {
		if !strings.Contains(page, text) {
			t.Errorf("%s: the page has no\n%s\nit is\n%s", what, text, page)
		}
	}
}

func TestWhatIsNotExplainedIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		old, new string // in the types, the conditions or the events
		says     string
	}{
		"a reason without a docstring": {"\t// GoneReason: nothing is left.\n", "",
			"box_conditions.go:27:2: GoneReason has no docstring that begins with its name"},
		"a docstring that is only a name": {"// GoneReason: nothing is left.", "// GoneReason:",
			`"GoneReason: what it means. Do: what a person can do."`},
		"a docstring of another form":     {"// GoneReason: nothing is left.", "// GoneReason means that.", "is not of the form"},
		"a docstring of another name":     {"// GoneReason: nothing", "// LostReason: nothing", "GoneReason has no docstring that begins with its name"},
		"an event without a docstring":    {"\t// Opened: somebody opened it.\n", "", "Opened has no docstring"},
		"an action without a docstring":   {"\t// ActionOpen is opening.\n", "", "ActionOpen has no docstring"},
		"a block without a docstring":     {"// Reasons of Gone, beside Stuck.\n", "", "a block has a docstring"},
		"a constant outside a block":      {"package telemetry\n", "package telemetry\n\n// A is one.\nconst A = \"a\"\n", "constants stand in blocks"},
		"reasons of no condition":         {"Reasons of Gone,", "Reasons of Lost,", `a Box has no condition "Lost"`},
		"a condition without reasons":     {"Reasons of Gone, beside Stuck.", "Reasons of BoxShut.", `there are no "Reasons of Gone."`},
		"a reason that is nowhere":        {"beside Stuck.", "beside Broken.", `there is no reason "Broken"`},
		"a reason of two constants":       {`GoneReason = "Gone"`, `GoneReason = "Stuck"`, `"Stuck" is declared twice`},
		"events of no kind":               {"Events of a Box.", "Events of a Crate.", "neither"},
		"a column without a description":  {`,description="Colour of the lid"`, "", `column "Lid" has no description`},
		"a value that cannot be resolved": {"other.Ready", "other.Shut", `has no string constant Shut`},
		"a value that is computed":        {`= "Gone"`, `= "Go" + "ne"`, "neither a string nor the name of a constant"},
		"no kind of the file's name":      {"type Box struct", "type Bin struct", "box_conditions.go: no kind of that name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := func(text string) string { return strings.Replace(text, test.old, test.new, 1) }
			if change(types)+change(conditionsOfBox)+change(events) == types+conditionsOfBox+events {
				t.Fatalf("%q is nowhere", test.old)
			}
			_, err := written(t, change(types), change(conditionsOfBox), change(events))
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got error %v, want one that says %s", err, test.says)
			}
		})
	}
}
