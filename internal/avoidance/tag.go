package avoidance

import (
	"strings"
	"time"
)

// A machine that is avoided carries a tag in MAAS, where operators and other managers see it: its name says until when.
const (
	tagPrefix = "capmaas-avoid-until-"
	tagTime   = "20060102T1504Z"
)

// TagComment is what MAAS shows of such a tag.
const TagComment = "A deployment failed on these machines, so CAPMAAS takes others first until the time in the name (UTC). " +
	"Take the tag off a machine to have it taken like any other. The tag is deleted by itself after that time."

// TagName is the tag of machines that are avoided until then.
func TagName(until time.Time) string { return tagPrefix + until.UTC().Format(tagTime) }

// UntilOf reads such a tag. It is not ok for any other, also for one that is only almost like it.
func UntilOf(tag string) (until time.Time, ok bool) {
	text, ours := strings.CutPrefix(tag, tagPrefix)
	if !ours {
		return time.Time{}, false
	}
	until, err := time.Parse(tagTime, text)
	return until, err == nil && TagName(until) == tag
}

// LevelOf is how a machine with these tags is avoided.
func LevelOf(tags []string, now time.Time) Level {
	level := No
	for _, tag := range tags {
		if until, ok := UntilOf(tag); ok {
			level = max(level, LevelAt(now, until))
		}
	}
	return level
}
