package host

import (
	"bufio"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// Exits tells how processes ended whose parents had left them: the machines' first processes. The first process of the namespaces
// inherits them and is told by the kernel, and passes it on through a pipe.
type Exits struct {
	mu      sync.Mutex
	waiting map[int]chan syscall.WaitStatus
}

// NewExits reads the pipe until it ends.
func NewExits(pipe io.Reader) *Exits {
	e := &Exits{waiting: map[int]chan syscall.WaitStatus{}}
	go func() {
		lines := bufio.NewScanner(pipe)
		for lines.Scan() {
			var pid int
			var status syscall.WaitStatus
			if _, err := fmt.Sscanf(lines.Text(), exitFormat, &pid, &status); err == nil {
				e.tell(pid, status)
			}
		}
	}()
	return e
}

// Wait delivers how the process ends. It has to be asked for while the process is there.
func (e *Exits) Wait(pid int) <-chan syscall.WaitStatus {
	e.mu.Lock()
	defer e.mu.Unlock()
	done := make(chan syscall.WaitStatus, 1)
	e.waiting[pid] = done
	return done
}

func (e *Exits) tell(pid int, status syscall.WaitStatus) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if done, ok := e.waiting[pid]; ok {
		delete(e.waiting, pid)
		done <- status
	}
}

const exitFormat = "%d %d"

// tellExit writes one process's end to the pipe. Nobody reads any more when the daemon has ended.
func tellExit(pipe io.Writer, pid int, status syscall.WaitStatus) {
	fmt.Fprintf(pipe, exitFormat+"\n", pid, status)
}
