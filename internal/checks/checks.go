package checks

import (
	"context"
	"errors"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capmaas/cluster-api-provider-maas/internal/identity"
	"github.com/capmaas/cluster-api-provider-maas/internal/telemetry"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// Checks asks MAAS what clusters depend on. It is safe for concurrent use.
type Checks struct {
	maas     *maas.Client
	identity *identity.Identity
	clock    *Clock
	metrics  *telemetry.Metrics // nil for none
	oneByOne bool

	version fact[maas.Version]
	domains fact[[]maas.Domain]
	zones   fact[[]maas.Zone]
	pools   fact[[]maas.ResourcePool]
	images  fact[[]maas.BootResource]

	contents contents // of images
}

// Config is what [New] needs.
type Config struct {
	MAAS     *maas.Client
	Identity *identity.Identity
	// Clock sees the answers that MAAS gives to the client; nil means that clocks are not compared.
	Clock *Clock
	// Metrics get what was found; nil means nobody does.
	Metrics *telemetry.Metrics
	// Now is the clock by which answers age; nil means time.Now.
	Now func() time.Time
	// OneByOne has one question asked after the other, in an order that is always the same; else all are asked at once.
	OneByOne bool
}

// New returns checks; they ask nothing yet.
func New(config Config) *Checks {
	now := config.Now
	if now == nil {
		now = time.Now
	}
	clock := config.Clock
	if clock == nil {
		clock = NewClock(now)
	}
	client := config.MAAS
	return &Checks{
		maas: client, identity: config.Identity, clock: clock, metrics: config.Metrics, oneByOne: config.OneByOne,
		version: fact[maas.Version]{ask: client.Version, now: now},
		domains: fact[[]maas.Domain]{ask: client.Domains, now: now},
		zones:   fact[[]maas.Zone]{ask: client.Zones, now: now},
		pools:   fact[[]maas.ResourcePool]{ask: client.ResourcePools, now: now},
		images:  fact[[]maas.BootResource]{ask: client.BootResources, now: now},
	}
}

// Region asks what is true of MAAS as a whole. A MAAS that does not say who we are is asked nothing else.
func (c *Checks) Region(ctx context.Context) Region {
	r := Region{Host: c.maas.Host()}
	user, err := c.identity.User(ctx)
	r.Err, r.Superuser = err, user.IsSuperuser
	maxAge := interval
	if last, known := c.version.last(); known {
		r.Version = last.Version
		if JudgeRegion(Region{Version: r.Version}, false).Verdict == Wrong {
			maxAge = floor
		}
	}
	if err == nil {
		// Where this fails, what was known before stays.
		if version, err := c.version.get(ctx, maxAge); err == nil {
			r.Version = version.Version
		}
	}
	r.Clock = c.clock.Reading()
	return r
}

// Look says what became of a cluster's wishes. MAAS is asked only for the kinds of things that are wished for.
func (c *Checks) Look(ctx context.Context, wishes Wishes) Findings {
	host := c.maas.Host()
	var domain, zones, pools, images Finding
	var wait sync.WaitGroup
	ask := wait.Go
	if c.oneByOne {
		ask = func(question func()) { question() }
	}
	if wishes.Domain != "" {
		ask(func() {
			domain = settle(ctx, &c.domains, func(d []maas.Domain) Finding { return judgeDomain(host, wishes.Domain, d) })
		})
	}
	ask(func() { zones = settleAll(ctx, host, &c.zones, wishes.Zones, judgeZones) })
	ask(func() { pools = settleAll(ctx, host, &c.pools, wishes.Pools, judgePools) })
	ask(func() { images = settleAll(ctx, host, &c.images, wishes.Images, c.judgeContents(ctx)) })
	wait.Wait()
	return Findings{Domain: domain, ZonesAndPools: together(zones, pools), Images: images}
}

// NeedLeaderElection says that only the leader looks: it is the one whose metrics count.
func (c *Checks) NeedLeaderElection() bool { return true }

// Start looks at MAAS as a whole once a minute until ctx ends, so that the log and the metrics tell what is wrong even while no object
// exists. It implements the manager's Runnable.
func (c *Checks) Start(ctx context.Context) error {
	logger := log.FromContext(ctx).WithName("maas").WithValues("endpoint", c.maas.Endpoint())
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	said := ""
	for {
		region := c.Region(ctx)
		if ctx.Err() != nil {
			return nil
		}
		c.measure(region)
		if news := describe(region); news != "" && news != said {
			said = news
			logger.Info(news)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// describe says in one line what was found; "" where MAAS does not say who we are for other reasons than the time, which the identity
// tells.
func describe(r Region) string {
	if r.Err != nil && !r.refusesOurTime() {
		return ""
	}
	if found := JudgeRegion(r, false); found.Message != "" {
		return found.Message
	}
	if r.Version == "" {
		return ""
	}
	return "MAAS " + r.Host + " is of version " + r.Version + ", which is supported"
}

// measure shows in metrics what was found. What is not known is not shown.
func (c *Checks) measure(r Region) {
	if c.metrics == nil {
		return
	}
	for check, verdict := range verdicts(r) {
		c.metrics.SetCheck(check, verdict == Fine, verdict != Unknown)
	}
	c.metrics.SetClockSkew(r.Clock.Skew, r.Clock.Known)
}

// verdicts says of each check of MAAS as a whole what it came to.
func verdicts(r Region) map[string]Verdict {
	of := func(known, fine bool) Verdict {
		switch {
		case !known:
			return Unknown
		case fine:
			return Fine
		}
		return Wrong
	}
	unauthorized, forbidden := errors.Is(r.Err, maas.ErrUnauthorized), errors.Is(r.Err, maas.ErrForbidden)
	late := unauthorized && r.refusesOurTime()
	return map[string]Verdict{
		telemetry.CheckReachable: of(true, r.Err == nil || unauthorized || forbidden),
		telemetry.CheckVersion:   of(r.Version != "", !r.versionTooOld() && !r.versionUnreadable()),
		telemetry.CheckKey:       of(r.Err == nil || forbidden || unauthorized && !late, !unauthorized),
		telemetry.CheckRights:    of(r.Err == nil || forbidden, r.Err == nil && r.Superuser),
		telemetry.CheckClock:     of(r.Clock.Known || late, !r.Clock.Differs && !late),
	}
}
