package build

import (
	"context"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Process is a program of this machine. It and its children end when ctx does, and with this process, however that ends, provided that it
// is run by RunProcess.
func Process(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	// A group of its own, so that the whole of it can be killed, and Ctrl-C does not reach it before us.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// RunProcess keeps the thread that starts the program: the kernel's "parent died" signal is about threads.
func RunProcess(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}
