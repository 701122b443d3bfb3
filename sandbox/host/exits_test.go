package host

import (
	"io"
	"syscall"
	"testing"
)

func TestExitsTellsWhoeverWaitsHowAProcessEnded(t *testing.T) {
	t.Parallel()
	read, write := io.Pipe()
	exits := NewExits(read)
	first, second := exits.Wait(17), exits.Wait(18)
	tellExit(write, 99, 0) // nobody waits for it
	tellExit(write, 18, syscall.WaitStatus(syscall.SIGHUP))
	tellExit(write, 17, syscall.WaitStatus(3<<8))
	if status := <-second; !status.Signaled() || status.Signal() != syscall.SIGHUP {
		t.Errorf("18 ended as %v, want by SIGHUP", status)
	}
	if status := <-first; !status.Exited() || status.ExitStatus() != 3 {
		t.Errorf("17 ended as %v, want with 3", status)
	}
}
