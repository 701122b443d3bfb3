package avoidance

import (
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestLevels(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]Level{
		0: Entirely, strict - time.Second: Entirely, strict: LastResort, Period - time.Second: LastResort, Period: No, 100 * time.Hour: No,
		-time.Hour: Entirely, // of a clock that is ahead
	} {
		if got := LevelAt(noon.Add(after), noon.Add(Period)); got != want {
			t.Errorf("%v after the failure: %d, want %d", after, got, want)
		}
	}
}
