package simulator

import (
	"slices"
	"testing"
	"time"
)

func TestVirtualClockRunsDueWorkInOrder(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	clock := NewVirtualClock(start)
	var ran []string
	note := func(name string) func() {
		return func() { ran = append(ran, name+" at "+clock.Now().Sub(start).String()) }
	}
	clock.AfterFunc(3*time.Second, note("c"))
	clock.AfterFunc(time.Second, func() {
		note("a")()
		clock.AfterFunc(time.Second, note("b"))
	})
	cancel := clock.AfterFunc(2*time.Second, note("cancelled"))
	cancel()
	clock.AfterFunc(time.Minute, note("late"))
	clock.Advance(3 * time.Second)
	if want := []string{"a at 1s", "b at 2s", "c at 3s"}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
	if next, ok := clock.Next(); !ok || next != 57*time.Second {
		t.Errorf("next work in %v, %v", next, ok)
	}
}
