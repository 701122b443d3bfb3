package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

// clock goes on when it is told to.
type clock struct{ now time.Time }

func (c *clock) pass(d time.Duration) { c.now = c.now.Add(d) }

func newTestBar(width int) (*bar, *bytes.Buffer, *clock) {
	out := new(bytes.Buffer)
	b := newBar(out, func() int { return width })
	c := &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	b.now = func() time.Time { return c.now }
	return b, out, c
}

func TestWithoutATerminalThereIsALineEveryFewSeconds(t *testing.T) {
	t.Parallel()
	b, out, c := newTestBar(0)
	for done := int64(0); done <= 12e6; done += 1e6 {
		b.show("Uploading", done, 12e6)
		c.pass(time.Second)
	}
	b.say("Done")
	want := "Uploading:  41%  5.0 MB of 12.0 MB  1.0 MB/s  7s left\n" +
		"Uploading:  83%  10.0 MB of 12.0 MB  1.0 MB/s  2s left\n" +
		"Uploading: 100%  12.0 MB of 12.0 MB  1.0 MB/s\nDone\n"
	if out.String() != want {
		t.Errorf("got\n%s", out)
	}
}

func TestOnATerminalOneLineIsDrawnAnew(t *testing.T) {
	t.Parallel()
	b, out, c := newTestBar(100)
	for done := int64(0); done <= 100; done++ {
		b.show("Uploading custom/debian-12", done*1e6, 100e6)
		c.pass(50 * time.Millisecond)
	}
	b.end()
	text := out.String()
	drawn := strings.Split(text, "\r\x1b[K")[1:]
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") || len(drawn) < 45 || len(drawn) > 55 {
		t.Errorf("%d times: %q", len(drawn), text)
	}
	last := strings.TrimSuffix(drawn[len(drawn)-1], "\n")
	if !strings.HasPrefix(last, "Uploading custom/debian-12  [####") || !strings.Contains(last, "##]  100%  100.0 MB of 100.0 MB  20.0 MB/s") {
		t.Errorf("ends with %q", last)
	}
	for _, line := range drawn {
		if len(strings.TrimSuffix(line, "\n")) > 99 {
			t.Errorf("too long: %q", line)
		}
	}
}

func TestLineFitsEveryWidth(t *testing.T) {
	t.Parallel()
	const text = " 50%  500.0 MB of 1.00 GB  100.0 MB/s  5s left"
	for width := 1; width < 200; width++ {
		for _, label := range []string{"Up", "Uploading custom/debian-12-k8s-v1.36.3 to maas.example.com:5240"} {
			if got := []rune(line(label, text, width, 5, 10)); len(got) > width {
				t.Errorf("%d columns: %d in %q", width, len(got), string(got))
			}
		}
	}
}

func TestWidthThatATerminalReports(t *testing.T) {
	t.Parallel()
	for reported, want := range map[int]int{0: 80, 1: 2, 7: 7, 200: 200} {
		if got := columns(reported, nil); got != want {
			t.Errorf("%d: %d", reported, got)
		}
	}
	if got := columns(7, errors.ErrUnsupported); got != 80 {
		t.Errorf("an error: %d", got)
	}
}

func TestOtherWorkBeginsAnotherLine(t *testing.T) {
	t.Parallel()
	b, out, c := newTestBar(100)
	b.show("Checking", 100, 100)
	b.show("Uploading", 50, 100)
	c.pass(time.Second)
	b.show("Uploading", 0, 100) // it begins anew
	b.end()
	b.end()
	if got := strings.Count(out.String(), "\n"); got != 3 || strings.Contains(out.String(), "/s") {
		t.Errorf("got %q", out)
	}
}

func TestRateLooksAtTheLastSeconds(t *testing.T) {
	t.Parallel()
	b, out, c := newTestBar(0)
	done := int64(0)
	for range 20 {
		b.show("Uploading", done, 1e9)
		done += 10e6
		c.pass(time.Second)
	}
	for range 30 {
		b.show("Uploading", done, 1e9)
		done += 1e6
		c.pass(time.Second)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, "  1.0 MB/s  12m") {
		t.Errorf("ends with %q", last)
	}
}

func TestSizesAndTimes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1500: "1.5 kB", 4 << 20: "4.2 MB", 612_345_678: "612.3 MB", 1_234_000_000: "1.23 GB"} {
		if got := megabytes(n); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
	for d, want := range map[time.Duration]string{0: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m01s", 2*time.Hour + 3*time.Minute: "2h03m", 200 * time.Hour: "days"} {
		if got := left(d); got != want {
			t.Errorf("%v is %s", d, got)
		}
	}
}
