package build

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Session is one run of one step.
type Session struct {
	*Project
	step       Step
	number, of int
	mu         sync.Mutex
	note       string
}

// heartbeat is how long a step stays silent.
const heartbeat = 15 * time.Second

// measured runs the step and tells when it starts, that it is still alive, and how long it took.
func (s *Session) measured(run func() error) error {
	start := time.Now()
	s.Say("%s …", s.step.Title)
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	result := make(chan error, 1)
	go func() { result <- run() }()
	for {
		select {
		case err := <-result:
			if err == nil {
				s.Say("%s: done in %s", s.step.Title, round(time.Since(start)))
			}
			return err
		case <-ticker.C:
			s.mu.Lock()
			note := s.note
			s.mu.Unlock()
			s.Say("%s … %s%s", s.step.Title, round(time.Since(start)), note)
		}
	}
}

// Say tells people a line.
func (s *Session) Say(format string, args ...any) {
	s.log.printf("[%*d/%d] %s", len(fmt.Sprint(s.of)), s.number, s.of, fmt.Sprintf(format, args...))
}

// Progress is what the next heartbeat adds.
func (s *Session) Progress(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note = ", " + fmt.Sprintf(format, args...)
}

// logFile has all output of the step's programs.
func (s *Session) logFile() string { return s.Path("logs", s.step.Name+".log") }

// Scratch makes an empty folder next to where the step's outputs go, so that a rename can put them in place.
func (s *Session) Scratch() (string, func(), error) {
	dir := s.Path(".scratch", s.step.Name)
	if err := os.RemoveAll(dir); err != nil {
		return "", nil, fmt.Errorf("clearing %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, fmt.Errorf("making %s: %w", dir, err)
	}
	return dir, func() { _ = os.RemoveAll(dir); _ = os.Remove(filepath.Dir(dir)) }, nil
}

func round(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// lineWriter writes whole lines, also when several steps speak at once.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, format+"\n", args...)
}
