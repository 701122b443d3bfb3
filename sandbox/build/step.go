package build

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// step makes some outputs from some inputs.
type step struct {
	// name is how other steps and Options.Only refer to it.
	name string
	// title is what people read while it runs.
	title string
	// lane groups steps that run one after the other; different lanes run side by side.
	lane lane
	// needs are the names of the steps whose outputs it reads. They come earlier in the list.
	needs []string
	// files are the files and folders it is made from. A folder counts with everything in it.
	files []string
	// keep, when set, says which files of the folders count.
	keep func(path string) bool
	// facts are other things it depends on, such as versions and flags.
	facts []string
	// outputs must exist for the step to be current.
	outputs []string
	// root says that only root can make them.
	root bool
	// run makes the outputs. Each is put in place with one rename.
	run func(ctx context.Context, s *session) error
}

// lane is a queue of steps.
type lane int

const (
	// compiling steps use all cores by themselves.
	compiling lane = iota
	// assembling steps wait for disks and networks more than for the processor.
	assembling
)

// selectSteps narrows the list to those asked for and all that they need, in the list's order.
func selectSteps(all []step, only []string) ([]step, error) {
	if len(only) == 0 {
		return all, nil
	}
	byName := make(map[string]step, len(all))
	for _, s := range all {
		byName[s.name] = s
	}
	wanted := make(map[string]bool)
	var want func(name string) error
	want = func(name string) error {
		if name == Assets {
			name = kubernetesStep
		}
		s, ok := byName[name]
		if !ok {
			return fmt.Errorf("there is no build step %q: choose from %s", name, strings.Join(stepNames(all), ", "))
		}
		wanted[name] = true
		for _, need := range s.needs {
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
	return slices.DeleteFunc(slices.Clone(all), func(s step) bool { return !wanted[s.name] }), nil
}

func stepNames(steps []step) []string {
	names := []string{Assets}
	for _, s := range steps {
		names = append(names, s.name)
	}
	return names
}
