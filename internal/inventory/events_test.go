package inventory_test

import (
	"context"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/inventory"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// What the event log tells of a machine that is Deployed, switched on and not locked, as far as we know.
func TestEventsThatAreHints(t *testing.T) {
	t.Parallel()
	const change, soon, none = "change", "soon", "none"
	for _, tc := range []struct{ level, kind, description, want string }{
		{"DEBUG", "Node changed status", "From 'Deployed' to 'Broken'", change},
		{"DEBUG", "Node changed status", "From 'Deploying' to 'Deployed'", change},
		{"DEBUG", "Node changed status", "", change},
		{"INFO", "Deployed", "", none},
		{"INFO", "Deploying", "", change},
		{"INFO", "Releasing", "", change},
		{"INFO", "Released", "", change},
		{"INFO", "Aborted deployment", "", none},
		{"DEBUG", "User acquiring node", "(bob)", change},
		{"INFO", "Rescue mode", "", change},
		{"ERROR", "Marking node failed", "no reason", change},
		{"ERROR", "Marking node broken", "no reason", change},
		{"DEBUG", "User marking node fixed", "(bob)", change},
		{"DEBUG", "User locking node", "(bob)", change},
		{"DEBUG", "User unlocking node", "(bob)", none},
		{"DEBUG", "Node powered on", "", none},
		{"DEBUG", "Node powered off", "", change},
		{"DEBUG", "Queried node's BMC", "Power state queried: on", none},
		{"DEBUG", "Queried node's BMC", "Power state queried: off", change},
		{"DEBUG", "Queried node's BMC", "something else", none},
		{"WARNING", "Failed to query node's BMC", "no route to host", change},
		{"ERROR", "Failed to power off node", "no route to host", change},
		{"DEBUG", "User powering down node", "(bob)", soon},
		{"INFO", "Powering off", "", soon},
		{"INFO", "Node Interface hardware sync state change", "added eth1", soon},
		{"INFO", "Loading ephemeral", "", none},
		{"INFO", "Configuring storage", "", none},
		{"INFO", "Installing OS", "", none},
		{"INFO", "Configuring OS", "", none},
		{"INFO", "Rebooting", "", none},
		{"INFO", "Performing PXE boot", "", none},
		{"DEBUG", "HTTP Request", "/images/x", none},
		{"DEBUG", "TFTP Request", "x", none},
		{"DEBUG", "Node installation", "'cloudinit' running modules", none},
		{"INFO", "a type that is new", "", none},
		{"AUDIT", "Node changed status", "not asked for", none},
	} {
		t.Run(tc.kind+" "+tc.description, func(t *testing.T) {
			t.Parallel()
			w := started(t, deployed("aaaaa1"))
			w.follow("aaaaa1", inventory.Settled)
			w.must(w.region.LogEvent("aaaaa1", tc.level, tc.kind, tc.description))
			w.hear()
			w.expectShown("aaaaa1", tc.want != change)
			if tc.want == change {
				w.expectRaised("aaaaa1")
			} else {
				w.expectRaised()
			}
			began := w.clock.Now()
			w.pass(30 * time.Second)
			if read := count(w.asked(began), "machines?id=aaaaa1") > 0; read != (tc.want != none) {
				t.Errorf("read in a batch soon: %t", read)
			}
		})
	}
}

// deployed gives these machines to our user, switched on.
func deployed(ids ...string) func(*simulator.Config) {
	return func(cfg *simulator.Config) {
		status := simulator.StatusDeployed
		cfg.Machines = nil
		for _, id := range ids {
			cfg.Machines = append(cfg.Machines, simulator.Machine{Hostname: "host-" + id, SystemID: id, Status: &status, PowerState: "on"})
		}
	}
}

func TestEventsRaiseThoseWhoFollow(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.follow("aaaaa1", inventory.Settled)
	w.Follow(object("other"), "aaaaa1", inventory.Settled)
	w.follow("aaaaa2", inventory.Settled)
	w.must(w.region.SetStatus("aaaaa1", simulator.StatusBroken))
	w.must(w.region.SetStatus("aaaaa1", simulator.StatusReady))
	w.must(w.region.SetStatus("aaaaa3", simulator.StatusBroken))
	w.hear()
	w.expectRaised("aaaaa1", "other")
	w.hear()
	w.expectRaised() // it was told
}

// Who follows a machine that changed goes before those that wait for their turn.
func TestChangedMachinesGoFirst(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.Await(object("a-waiting"))
	w.follow("aaaaa1", inventory.Moving)
	w.must(w.region.SetStatus("aaaaa2", simulator.StatusDeployed))
	w.must(w.region.SetStatus("aaaaa1", simulator.StatusDeployed))
	w.hear()
	if w.queue.Len() != 2 {
		t.Fatalf("%d raised, want 2", w.queue.Len())
	}
	if request, priority, _ := w.queue.GetWithPriority(); request.Name != "aaaaa1" || priority <= 0 {
		t.Errorf("%s with priority %d is first", request.Name, priority)
	}
}

func TestEventsRaiseThoseWhoAwait(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		then func(*world) error
		want []string
	}{
		"a machine becomes free":       {func(w *world) error { return w.region.OperatorRelease("aaaaa3") }, []string{"waiting"}},
		"a followed one becomes free":  {func(w *world) error { return w.region.OperatorRelease("aaaaa1") }, []string{"aaaaa1", "waiting"}},
		"a followed one breaks":        {func(w *world) error { return w.region.SetStatus("aaaaa1", simulator.StatusBroken) }, []string{"aaaaa1"}},
		"another one breaks":           {func(w *world) error { return w.region.SetStatus("aaaaa3", simulator.StatusBroken) }, []string{}},
		"an installation goes on":      {func(w *world) error { return w.region.LogEvent("aaaaa3", "INFO", "Configuring OS", "") }, []string{}},
		"the power of another changes": {func(w *world) error { return w.region.LogEvent("aaaaa3", "DEBUG", "Node powered on", "") }, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := started(t, deployed("aaaaa1", "aaaaa2", "aaaaa3"), func(cfg *simulator.Config) {
				for i := range cfg.Machines {
					cfg.Machines[i].PowerState = "off"
				}
			})
			w.hear() // and whoever awaits from the start was told
			w.Await(object("waiting"))
			w.follow("aaaaa1", inventory.Settled)
			w.pass(time.Minute)
			w.raised()
			w.must(tc.then(w))
			w.hear()
			w.expectRaised(tc.want...)
		})
	}
}

// Many events in a short time raise those who await a machine not more often than every few seconds, and the last one is told too.
func TestThoseWhoAwaitAreRaisedNowAndThen(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.Await(object("waiting"))
	w.follow("aaaaa1", inventory.Moving) // so that the log is read every 2 s
	w.raised()
	told := 0
	for i := range 30 {
		w.must(w.region.SetStatus("aaaaa2", []simulator.Status{simulator.StatusBroken, simulator.StatusReady}[i%2]))
		w.pass(2 * time.Second)
		told += count(w.raised(), "waiting")
	}
	w.pass(10 * time.Second)
	told += count(w.raised(), "waiting")
	if told < 8 || told > 13 {
		t.Errorf("raised %d times in a minute of one event every 2 s", told)
	}
	w.pass(time.Minute)
	w.expectRaised()
}

func TestWhatIsSaidBeforeTheStartIsRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Await(object("waiting"))
	w.Await(object("not any more"))
	w.Forget(object("not any more"))
	w.Follow(object("a"), "aaaaa1", inventory.Settled)
	w.expectRaised()
	w.Step(t.Context())
	w.expectRaised("waiting")
	w.must(w.region.SetStatus("aaaaa1", simulator.StatusBroken))
	w.hear()
	w.expectRaised("a")
}

// An object may look for machines, find none, and await one only after those that do were told.
func TestWhoBeginsToAwaitMissesNothing(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.must(w.region.SetStatus("aaaaa2", simulator.StatusBroken))
	w.hear()
	w.Await(object("late"))
	w.hear()
	w.expectRaised("late")
	w.Await(object("late")) // as each of its reconciles says
	w.hear()
	w.expectRaised()
}

// comesAndGoes lets a free machine be used and become free again.
func (w *world) comesAndGoes(systemID string) {
	w.Helper()
	w.must(w.region.SetStatus(systemID, simulator.StatusBroken))
	w.must(w.region.SetStatus(systemID, simulator.StatusReady))
	w.hear()
}

func TestEventLogIsReadAtAPace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		prepare     func(*world)
		least, most int // polls in a minute
	}{
		"at rest":               {func(w *world) { w.follow("aaaaa1", inventory.Settled) }, 12, 12},
		"while something moves": {func(w *world) { w.follow("aaaaa1", inventory.Moving) }, 29, 30},
		"while somebody waits":  {func(w *world) { w.Await(object("a")) }, 12, 12},
		"while somebody waits and machines come and go": {func(w *world) {
			w.Await(object("a"))
			w.comesAndGoes("aaaaa2")
		}, 29, 30},
		"while machines come and go and nobody waits": {func(w *world) {
			w.comesAndGoes("aaaaa2")
		}, 12, 12},
		"while MAAS is away": {func(w *world) {
			w.region.SetIntercept(func(simulator.Request) simulator.Fault { return simulator.Fault{Status: 502} })
			w.pass(time.Minute)
		}, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := started(t)
			w.hear()
			w.pass(2 * time.Minute)
			tc.prepare(w)
			began := w.clock.Now().Add(time.Nanosecond)
			w.pass(time.Minute)
			if got := count(w.asked(began), "events"); got < tc.least || got > tc.most {
				t.Errorf("%d polls, want %d to %d", got, tc.least, tc.most)
			}
		})
	}
}

// Events that came while MAAS did not answer are read when it does again.
func TestNothingIsLostWhileMAASIsAway(t *testing.T) {
	t.Parallel()
	w := started(t)
	w.follow("aaaaa1", inventory.Settled)
	w.region.SetIntercept(func(simulator.Request) simulator.Fault { return simulator.Fault{Status: 502} })
	w.must(w.region.SetStatus("aaaaa1", simulator.StatusBroken))
	w.pass(5 * time.Minute)
	w.expectRaised()
	w.region.SetIntercept(nil)
	w.pass(31 * time.Second)
	w.expectRaised("aaaaa1")
}

// A long pause of ours leaves more events than one page has.
func TestManyEventsAreReadAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.region.LogEvent("aaaaa2", "DEBUG", "HTTP Request", ""))
	w.Step(t.Context())
	w.follow("aaaaa1", inventory.Settled)
	for range 2500 {
		w.must(w.region.LogEvent("aaaaa2", "DEBUG", "HTTP Request", ""))
	}
	w.must(w.region.SetStatus("aaaaa1", simulator.StatusBroken))
	began := w.clock.Now().Add(time.Nanosecond)
	w.hear()
	w.expectRaised("aaaaa1")
	if got := count(w.asked(began), "events?limit=1000"); got != 3 {
		t.Errorf("%d pages, want 3", got)
	}
}

// A MAAS that was restored from a backup numbers its events anew.
func TestRestoredMAASIsFollowedAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 50 {
		w.must(w.region.LogEvent("aaaaa2", "DEBUG", "HTTP Request", ""))
	}
	w.Step(context.Background())
	w.follow("aaaaa1", inventory.Settled)
	w.Await(object("waiting"))
	w.pass(time.Minute)
	w.raised()

	restored := w.newRegion(func(cfg *simulator.Config) {
		status := simulator.StatusBroken
		cfg.Machines[0].Status = &status
	})
	w.must(restored.LogEvent("aaaaa2", "DEBUG", "HTTP Request", ""))
	w.served.Store(restored)
	w.pass(10 * time.Minute)
	w.expectRaised("aaaaa1", "waiting")
	if m, ok := w.Look("aaaaa1"); !ok || m.Status != maas.StatusBroken {
		t.Errorf("what is shown is from before the restore")
	}
	w.must(restored.SetStatus("aaaaa1", simulator.StatusReady))
	w.hear()
	w.expectRaised("aaaaa1", "waiting")
}

// A log without any entry is a place too.
func TestEmptyEventLogIsFollowed(t *testing.T) {
	t.Parallel()
	w := started(t)
	if n := len(w.region.Snapshot().Events); n != 0 {
		t.Fatalf("the log has %d entries", n)
	}
	w.follow("aaaaa1", inventory.Settled)
	w.hear()
	w.expectShown("aaaaa1", true)
	w.must(w.region.SetStatus("aaaaa1", simulator.StatusBroken))
	w.hear()
	w.expectRaised("aaaaa1")
}

func TestNothingIsRaisedBeforeTheSourceIsStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := inventory.New(w.client, w.clock.Now)
	other.Follow(object("a"), "aaaaa1", inventory.Settled)
	other.Step(t.Context())
	w.must(w.region.SetStatus("aaaaa1", simulator.StatusBroken))
	w.clock.Advance(5 * time.Second)
	other.Step(t.Context())
	w.must(other.Source().Start(t.Context(), w.queue))
	w.expectRaised()
	w.must(w.region.SetStatus("aaaaa1", simulator.StatusReady))
	w.clock.Advance(5 * time.Second)
	other.Step(t.Context())
	w.expectRaised("a")
}
