package management

import (
	"errors"
	"io"
	"slices"
	"testing"
)

func TestListenTellsNotesThenHowItEnds(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	go func() {
		r := &reporter{w: writer}
		r.note("%d machines", 8)
		r.note("serves")
		r.send(Progress{Ready: true})
		r.send(Progress{Error: "etcd ended"})
		writer.Close()
	}()
	var notes []string
	rest, err := Listen(reader, func(note string) { notes = append(notes, note) })
	if err != nil || !slices.Equal(notes, []string{"8 machines", "serves"}) {
		t.Fatalf("notes %q, %v", notes, err)
	}
	if err := <-rest; err == nil || err.Error() != "etcd ended" {
		t.Errorf("the end was told as %v", err)
	}
}

func TestListenKnowsADaemonThatEndsWithoutAWord(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	go writer.Close()
	if _, err := Listen(reader, func(string) {}); !errors.Is(err, ErrEnded) {
		t.Errorf("Listen = %v, want ErrEnded", err)
	}
}
