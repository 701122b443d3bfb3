package check

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// output runs a program, and returns what it says on its standard output. When it fails, that is all that it says, and the error has the
// end of it.
func output(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	var all lockedBuffer
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, &all), &all
	if err := build.RunProcess(cmd); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return all.String(), fmt.Errorf("%w: %s", err, lastWords(all.String()))
	}
	return out.String(), nil
}

// lockedBuffer takes what comes from two sides at once.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// lastWords of a program.
func lastWords(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	const most = 3
	return strings.Join(lines[max(0, len(lines)-most):], " | ")
}
