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

func TestTags(t *testing.T) {
	t.Parallel()
	if got := TagName(noon.Add(Period)); got != "capmaas-avoid-until-20260301T1400Z" {
		t.Error(got)
	}
	for tag, want := range map[string]bool{
		TagName(noon):                        true,
		"capmaas-avoid-until-":               false,
		"capmaas-avoid-until-20260301T1400":  false,
		"capmaas-avoid-until-20261301T1400Z": false,
		"avoid-until-20260301T1400Z":         false,
		"ssd":                                false,
	} {
		if until, ok := UntilOf(tag); ok != want || ok && !until.Equal(noon) {
			t.Errorf("%s: %v, %t", tag, until, ok)
		}
	}
	tags := []string{"ssd", TagName(noon.Add(-time.Hour)), TagName(noon.Add(time.Hour))}
	if got := LevelOf(tags, noon); got != LastResort {
		t.Errorf("several tags: %d", got)
	}
	if got := LevelOf(tags[:2], noon); got != No {
		t.Errorf("an old tag: %d", got)
	}
}
