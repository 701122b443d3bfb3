// Package avoidance keeps machines whose deployment failed from being claimed again at once. Whoever claims a machine puts up with one
// that failed a while ago if nothing else fits: what fails on every machine, such as a bad image, must not take all of them from others.
package avoidance

import "time"

const (
	// Period is how long a machine is avoided: long enough for somebody to look at it.
	Period = 2 * time.Hour
	// strict is for how much of that it is not taken at all, so that one that fails at once is not tried again and again.
	strict = 15 * time.Minute
)

// Level says how a machine is avoided.
type Level int

const (
	// No means that it is like any other.
	No Level = iota
	// LastResort means that it is taken if nothing else fits.
	LastResort
	// Entirely means that it is not taken.
	Entirely
)

// LevelAt is how a machine is avoided now that is so until then.
func LevelAt(now, until time.Time) Level {
	switch left := until.Sub(now); {
	case left <= 0:
		return No
	case left > Period-strict:
		return Entirely
	}
	return LastResort
}
