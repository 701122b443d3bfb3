package killpoints

import (
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func TestMain(m *testing.M) {
	// Worlds are small and many: a quarter of the time would go into collecting them.
	debug.SetGCPercent(400)
	log.SetLogger(klog.New(log.NullLogSink{}))
	os.Exit(m.Run())
}

// roles are the lives that are lived.
func roles() []role { return []role{worker, controlPlane, unlucky, stuck} }

// TestKillPoints lives each life once for each call in it and each way in which that can go wrong.
func TestKillPoints(t *testing.T) {
	t.Parallel()
	for _, r := range roles() {
		t.Run(string(r), func(t *testing.T) {
			t.Parallel()
			for _, p := range calls(t, r, blow{}) {
				ways := p.ways(r)
				if len(ways) == 0 {
					continue
				}
				t.Run(p.String(), func(t *testing.T) {
					t.Parallel()
					for _, way := range ways {
						lives(t, string(way), r, blow{at: p, way: way})
					}
				})
			}
		})
	}
}

// TestKilledTwice kills the manager after each write to MAAS, and the next one before and after each write with which it gets over that.
func TestKilledTwice(t *testing.T) {
	t.Parallel()
	for _, r := range []role{worker, controlPlane} {
		t.Run(string(r), func(t *testing.T) {
			t.Parallel()
			for _, p := range calls(t, r, blow{}) {
				if !p.write || p.toKubernetes() {
					continue
				}
				t.Run(p.String(), func(t *testing.T) {
					t.Parallel()
					for _, again := range calls(t, r, blow{at: p, way: after}) {
						if !again.write || again.toStatus() {
							continue
						}
						for _, way := range []way{before, after} {
							lives(t, again.String()+"-"+string(way), r, blow{at: p, way: after, again: again, againWay: way})
						}
					}
				})
			}
		})
	}
}

// gettingOver is how long after a first blow a second one falls.
const gettingOver = time.Minute

// calls lives a life, and lists what is called in it; after a blow, only what is called in the time that it takes to get over that.
func calls(t *testing.T, r role, b blow) []point {
	t.Helper()
	w := newWorld(t, r, b)
	defer w.close()
	w.live()
	if t.Failed() {
		t.FailNow() // what would follow says no more
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []point
	for _, c := range w.calls[w.afterBlow:] {
		if b.way == "" || c.at.Sub(w.calls[w.afterBlow-1].at) <= gettingOver {
			all = append(all, c.point)
		}
	}
	return all
}

// lives is a test that lives a life.
func lives(t *testing.T, name string, r role, b blow) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("to run it alone: go test ./internal/controllers/killpoints -run '%s'", exactly(t.Name()))
			}
		})
		w := newWorld(t, r, b)
		defer w.close()
		w.live()
	})
}

// exactly is what tells go test to run this test alone.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}
