package management

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Progress is one thing that the daemon tells whoever started it.
type Progress struct {
	// Note is a step that was done, in words.
	Note string `json:"note,omitempty"`
	// Ready says that all runs.
	Ready bool `json:"ready,omitempty"`
	// Error is why the sandbox ends.
	Error string `json:"error,omitempty"`
}

// reporter writes progress to the pipe. Nobody may be listening any more: that is no error.
type reporter struct {
	mu sync.Mutex
	w  io.Writer
}

func (r *reporter) send(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = json.NewEncoder(r.w).Encode(p)
}

func (r *reporter) note(format string, args ...any) {
	r.send(Progress{Note: fmt.Sprintf(format, args...)})
}

// ErrEnded says that the daemon ended without a word.
var ErrEnded = errors.New("the sandbox ended without saying why")

// Listen reads the daemon's progress until it is ready, telling notes to each. After that, rest delivers the error with which the
// daemon ends one day.
func Listen(pipe io.Reader, each func(string)) (rest <-chan error, err error) {
	decoder := json.NewDecoder(pipe)
	for {
		var p Progress
		if err := decoder.Decode(&p); err != nil {
			return nil, ErrEnded
		}
		switch {
		case p.Error != "":
			return nil, errors.New(p.Error)
		case p.Ready:
			return listenOn(decoder), nil
		default:
			each(p.Note)
		}
	}
}

func listenOn(decoder *json.Decoder) <-chan error {
	rest := make(chan error, 1)
	go func() {
		for {
			var p Progress
			if err := decoder.Decode(&p); err != nil {
				rest <- ErrEnded
				return
			}
			if p.Error != "" {
				rest <- errors.New(p.Error)
				return
			}
		}
	}()
	return rest
}
