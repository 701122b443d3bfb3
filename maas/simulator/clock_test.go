package simulator

import (
	"context"
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

func TestJumpingClockShowsRealTimeUntilSomebodyJumps(t *testing.T) {
	t.Parallel()
	clock := NewJumpingClock()
	if off := time.Since(clock.Now()); off < 0 || off > time.Minute {
		t.Errorf("a new clock is off by %s", off)
	}
	ran := make(chan struct{})
	clock.AfterFunc(time.Millisecond, func() { close(ran) })
	<-ran
	cancelled := clock.AfterFunc(time.Hour, func() { t.Error("cancelled work ran") })
	cancelled()
	var order []string
	clock.AfterFunc(2*time.Hour, func() { order = append(order, "late") })
	clock.AfterFunc(time.Hour, func() {
		order = append(order, "early")
		if ahead := time.Until(clock.Now()).Round(time.Minute); ahead != time.Hour {
			t.Errorf("while the work of an hour's time runs the clock is %s ahead", ahead)
		}
		clock.AfterFunc(30*time.Minute, func() { order = append(order, "between") })
	})
	clock.AfterFunc(4*time.Hour, func() { order = append(order, "too late") })
	clock.Advance(3 * time.Hour)
	if want := []string{"early", "between", "late"}; !slices.Equal(order, want) {
		t.Errorf("ran %v, want %v", order, want)
	}
	if ahead := time.Until(clock.Now()).Round(time.Minute); ahead != 3*time.Hour {
		t.Errorf("after a jump of three hours the clock is %s ahead", ahead)
	}
	if next, ok := clock.Next(); !ok || next.Round(time.Minute) != time.Hour {
		t.Errorf("next work in %s, %t", next, ok)
	}
	clock.AfterFunc(time.Minute, func() { order = nil })
	clock.Advance(time.Minute)
	if order != nil {
		t.Error("what is queued after a jump does not run with the next")
	}
}

func TestAJumpEndsThoughWorkIsAlwaysDue(t *testing.T) {
	t.Parallel()
	clock := NewJumpingClock()
	runs := 0
	var again func()
	again = func() {
		runs++
		clock.AfterFunc(1, again) // a nanosecond is over before it is queued
	}
	clock.AfterFunc(time.Hour, again)
	clock.Advance(time.Hour + 10*time.Millisecond)
	if runs == 0 {
		t.Error("the work never ran")
	}
}

func TestAJumpEndsWhatWaits(t *testing.T) {
	t.Parallel()
	clock := NewJumpingClock()
	over := make(chan struct{})
	go func() {
		clock.Wait(t.Context(), time.Hour)
		close(over)
	}()
	eventually(t, "the wait", func() bool { _, waits := clock.Next(); return waits })
	clock.Advance(time.Hour)
	<-over
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	clock.Wait(ctx, time.Hour)
}
