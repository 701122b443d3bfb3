package simulator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// p95 is how many standard deviations the 95th percentile of a normal
// distribution is above its median.
const p95 = 1.6448536269514722

// checkSpread says what is wrong with a Spread.
func checkSpread(spread float64) error {
	if spread != 0 && !(spread >= 1 && spread <= 100) {
		return fmt.Errorf("spread is %v, want 0 for none, or the 95th percentile as a multiple of the median, from 1 to 100", spread)
	}
	return nil
}

// draw draws a time around a median: log-normal, as times of work are, so that
// 95 of 100 are at most spread times the median, and as many at least a
// spread-th of it. The hundredth of a percent that would be further off than
// the square of that is cut to it. A spread of 0 or 1 draws nothing.
func draw(from *rand.Rand, median time.Duration, spread float64) time.Duration {
	if spread <= 1 || median <= 0 {
		return median
	}
	deviations := min(max(from.NormFloat64(), -2*p95), 2*p95)
	return time.Duration(float64(median) * math.Exp(deviations/p95*math.Log(spread)))
}

// takes draws how long something of Config.Durations takes this time. Its
// draws have a source of their own, so that they change no system IDs.
func (t *tx) takes(median time.Duration) time.Duration {
	return draw(t.r.durations, median, t.r.cfg.Durations.Spread)
}

// drawn is the latency of one request. The lock must be held.
func (r *Region) drawn(l Latency) Latency {
	// One draw for all fields: a request uses one or two of them, and a slow
	// moment of the server slows both.
	const unit = time.Hour
	factor := float64(draw(r.latencies, unit, l.Spread)) / float64(unit)
	for _, d := range l.fields() {
		*d = time.Duration(float64(*d) * factor)
	}
	return l
}
