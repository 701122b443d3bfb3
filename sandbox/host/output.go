package host

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
)

// Output runs a program and returns what it wrote to its standard output. The error adds what it wrote to the other one.
func Output(cmd *exec.Cmd) ([]byte, error) {
	text, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return text, err
}
