package build

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Step makes some outputs from some inputs.
type Step struct {
	// Name is how other steps and Options.Only refer to it.
	Name string
	// Title is what people read while it runs.
	Title string
	// Lane groups steps that run one after the other; different lanes run side by side.
	Lane Lane
	// Needs are the names of the steps whose outputs it reads. They come earlier in the list.
	Needs []string
	// Files are the files and folders it is made from. A folder counts with everything in it.
	Files []string
	// Keep, when set, says which files of the folders count.
	Keep func(path string) bool
	// Facts are other things it depends on, such as versions and flags.
	Facts []string
	// Outputs must exist for the step to be current.
	Outputs []string
	// Whole, when set, says whether the outputs that exist are what Run made, as far as can be told quickly.
	Whole func() bool
	// Root says that only root can make them.
	Root bool
	// Run makes the outputs. Each is put in place with one rename.
	Run func(ctx context.Context, s *Session) error
}

// Lane is a queue of steps.
type Lane int

const (
	// Compiling steps use all cores by themselves.
	Compiling Lane = iota
	// Assembling steps wait for disks and networks more than for the processor.
	Assembling
)

// NotTest keeps all files but Go tests.
func NotTest(path string) bool { return !strings.HasSuffix(path, "_test.go") }

// OneAfterTheOther joins what several steps would do into one.
func OneAfterTheOther(runs ...func(context.Context, *Session) error) func(context.Context, *Session) error {
	return func(ctx context.Context, s *Session) error {
		for _, run := range runs {
			if err := run(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}
}

// selectSteps narrows the list to those asked for and all that they need, in the list's order.
func selectSteps(all []Step, only []string) ([]Step, error) {
	if len(only) == 0 {
		return all, nil
	}
	byName := make(map[string]Step, len(all))
	for _, s := range all {
		byName[s.Name] = s
	}
	wanted := make(map[string]bool)
	var want func(name string) error
	want = func(name string) error {
		s, ok := byName[name]
		if !ok {
			return fmt.Errorf("there is no build step %q: choose from %s", name, strings.Join(stepNames(all), ", "))
		}
		wanted[name] = true
		for _, need := range s.Needs {
			if err := want(need); err != nil {
				return err
			}
		}
		return nil
	}
	for _, name := range only {
		if err := want(name); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(s Step) bool { return !wanted[s.Name] }), nil
}

func stepNames(steps []Step) []string {
	var names []string
	for _, s := range steps {
		names = append(names, s.Name)
	}
	return names
}
