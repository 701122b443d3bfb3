package simulator

import (
	"fmt"
	"time"
)

// Profile names how long things take in a region. It sets those of
// Config.Durations and Config.Latency that are zero, their spreads included: to
// have something at once in spite of it, say a nanosecond.
type Profile string

const (
	// ProfileInstant is the same as none: nothing takes any time, and a deploy
	// never times out.
	ProfileInstant Profile = "instant"
	// ProfileMAASLike is a usual MAAS with physical machines. Half of all
	// deployments are through in 11 minutes, 95 of 100 in less than 20; requests
	// take from tenths of a second to seconds:
	//
	//	install 7m30s, boot 3m30s, powerOn 5s, powerOff 10s, erase 6m (a quick
	//	erase), commission 9m, test 5m, compose 15s, deployTimeout 30m, spread 1.8
	//	allocate 800ms, deploy 2.2s, release 2s, write 300ms, read 170ms,
	//	perMachine 10ms, spread 2.5
	//
	// These are the middle of what operators report of MAAS 3.x, and
	// deployTimeout is MAAS's default.
	ProfileMAASLike Profile = "maas-like"
	// ProfileSlow is a MAAS under load with slow servers, at the upper end of the
	// same reports. Some deployments time out:
	//
	//	install 14m, boot 6m, powerOn 20s, powerOff 40s, erase 1h (all of a disk),
	//	commission 15m, test 15m, compose 45s, deployTimeout 30m, spread 1.8
	//	allocate 2s, deploy 10s, release 10s, write 1.5s, read 500ms,
	//	perMachine 30ms, spread 3
	ProfileSlow Profile = "slow"
)

// times are the durations and latencies of a profile.
type times struct {
	durations Durations
	latency   Latency
}

func profiles() map[Profile]times {
	const ms = time.Millisecond
	return map[Profile]times{
		"":             {},
		ProfileInstant: {},
		ProfileMAASLike: {
			Durations{
				Install: 450 * time.Second, Boot: 210 * time.Second, PowerOn: 5 * time.Second, PowerOff: 10 * time.Second, Erase: 6 * time.Minute,
				Commission: 9 * time.Minute, Test: 5 * time.Minute, Compose: 15 * time.Second, DeployTimeout: 30 * time.Minute, Spread: 1.8,
			},
			Latency{Allocate: 800 * ms, Deploy: 2200 * ms, Release: 2 * time.Second, Write: 300 * ms, Read: 170 * ms, PerMachine: 10 * ms, Spread: 2.5},
		},
		ProfileSlow: {
			Durations{
				Install: 14 * time.Minute, Boot: 6 * time.Minute, PowerOn: 20 * time.Second, PowerOff: 40 * time.Second, Erase: time.Hour,
				Commission: 15 * time.Minute, Test: 15 * time.Minute, Compose: 45 * time.Second, DeployTimeout: 30 * time.Minute, Spread: 1.8,
			},
			Latency{Allocate: 2 * time.Second, Deploy: 10 * time.Second, Release: 10 * time.Second, Write: 1500 * ms, Read: 500 * ms, PerMachine: 30 * ms, Spread: 3},
		},
	}
}

// applyProfile sets what the configuration leaves open, and checks the spreads.
func (c *Config) applyProfile() error {
	profile, ok := profiles()[c.Profile]
	if !ok {
		return fmt.Errorf("profile %q is none of %s, %s and %s", c.Profile, ProfileInstant, ProfileMAASLike, ProfileSlow)
	}
	if err := checkSpread(c.Durations.Spread); err != nil {
		return fmt.Errorf("durations: %w", err)
	}
	if err := checkSpread(c.Latency.Spread); err != nil {
		return fmt.Errorf("latency: %w", err)
	}
	fill(c.Durations.fields(), profile.durations.fields())
	fill(c.Latency.fields(), profile.latency.fields())
	if c.Durations.Spread == 0 {
		c.Durations.Spread = profile.durations.Spread
	}
	if c.Latency.Spread == 0 {
		c.Latency.Spread = profile.latency.Spread
	}
	return nil
}

func fill(fields, with map[string]*time.Duration) {
	for name, field := range fields {
		if *field == 0 {
			*field = *with[name]
		}
	}
}
