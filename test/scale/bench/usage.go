package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// clockTicks is the unit of times in /proc: Linux has it fixed at 100 a second for programs.
const clockTicks = 100

// cpuSeconds is how long the manager has been on a CPU since its start.
func (m *manager) cpuSeconds() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.command.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("measure the manager's CPU time: %w", err)
	}
	// The second field is the program's name in parentheses, and may hold anything.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	const user, system = 11, 12 // utime and stime, the 14th and 15th of all
	if len(fields) <= system {
		return 0, fmt.Errorf("measure the manager's CPU time: /proc holds %d fields", len(fields))
	}
	var ticks float64
	for _, i := range []int{user, system} {
		n, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return 0, fmt.Errorf("measure the manager's CPU time: %w", err)
		}
		ticks += n
	}
	return ticks / clockTicks, nil
}

// maxRSSMiB is the most memory that a process ever had.
func maxRSSMiB(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("measure a process's memory: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			if err != nil {
				return 0, fmt.Errorf("measure a process's memory: %w", err)
			}
			return kib / 1024, nil
		}
	}
	return 0, fmt.Errorf("measure a process's memory: /proc does not tell it")
}
