package host

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

func TestLockIsHeldByWhoeverInheritsIt(t *testing.T) {
	t.Parallel()
	l, err := NewLayout(t.TempDir(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if running, err := Running(l); running || err != nil {
		t.Fatalf("Running before anything = %v, %v", running, err)
	}
	probe, err := lock(l, unix.LOCK_SH)
	if err != nil {
		t.Fatal(err)
	}
	if running, err := Running(l); running || err != nil {
		t.Errorf("Running while another one asks = %v, %v", running, err)
	}
	probe.Close()
	lock, err := Lock(l)
	if err != nil {
		t.Fatalf("Lock: %v", err)
	}
	if _, err := Lock(l); !errors.Is(err, ErrRunning) {
		t.Fatalf("second Lock = %v, want ErrRunning", err)
	}
	heir := exec.Command("sleep", "60")
	heir.ExtraFiles = []*os.File{lock}
	if err := heir.Start(); err != nil {
		t.Fatal(err)
	}
	lock.Close()
	if running, err := Running(l); !running || err != nil {
		t.Errorf("Running while an heir lives = %v, %v", running, err)
	}
	found, err := holders(l)
	if err != nil || len(found) != 1 || found[0].pid != heir.Process.Pid || found[0].initial {
		t.Errorf("holders = %+v, %v; want process %d, which is not the first of a namespace", found, err, heir.Process.Pid)
	}
	if gone(heir.Process.Pid) {
		t.Error("the heir counts as gone")
	}
	if err := heir.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = heir.Wait()
	if running, err := Running(l); running || err != nil {
		t.Errorf("Running after the heir's end = %v, %v", running, err)
	}
	if !gone(heir.Process.Pid) {
		t.Error("the heir does not count as gone")
	}
}
