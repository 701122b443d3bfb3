package host

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Command is what a person types, in the checkout, to have this sandbox do something: a make target where that means this sandbox,
// else a call of the program. machine is a name in MAAS, or empty.
func (l Layout) Command(command, machine string) string {
	if l.usual() {
		if machine != "" {
			machine = " MACHINE=" + machine
		}
		return "make sandbox-" + command + machine
	}
	return strings.TrimSpace(fmt.Sprintf("%s --root %s --dir %s --build-dir %s %s %s", l.Bin("sandbox"), l.Root, l.State, l.Build, command, machine))
}

// commandFromElsewhere is the same for a person who may be in another folder.
func (l Layout) commandFromElsewhere(command string) string {
	if l.usual() {
		return "make -C " + l.Root + " sandbox-" + command
	}
	return l.Command(command, "")
}

// usual says whether the folders are those that the Makefile takes.
func (l Layout) usual() bool {
	return l.State == filepath.Join(l.Root, ".sandbox") && l.Build == filepath.Join(l.Root, "_build")
}
