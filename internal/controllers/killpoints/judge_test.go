package killpoints

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
)

// judge is told how a life goes: a test, or a verdict.
type judge interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	Failed() bool
}

// verdict notes down what is wrong with a life, where that is what a test wants to know. Its Fatal ends the goroutine, as a test's does.
type verdict struct {
	mu       sync.Mutex
	failures []string
}

// judged runs what is told how a life goes, and returns once it ended.
func judged(live func(judge)) *verdict {
	v := &verdict{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		live(v)
	}()
	<-ended
	return v
}

func (v *verdict) Helper() {}

// Errorf keeps the first line: what follows is for people who look at one life.
func (v *verdict) Errorf(format string, args ...any) {
	text, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failures = append(v.failures, text)
}

func (v *verdict) Fatal(args ...any) {
	v.Errorf("%s", fmt.Sprint(args...))
	runtime.Goexit()
}

func (v *verdict) Fatalf(format string, args ...any) {
	v.Errorf(format, args...)
	runtime.Goexit()
}

// Logf is for people who look at one life.
func (v *verdict) Logf(string, ...any) {}

func (v *verdict) Failed() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.failures) > 0
}
