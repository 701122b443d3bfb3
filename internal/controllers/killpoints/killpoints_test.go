package killpoints

import (
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"testing"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // worlds are small and many: a quarter of the time would go into collecting them
	os.Exit(m.Run())
}

// TestKillPoints lives each life once for each call in it and each way in which that can go wrong.
func TestKillPoints(t *testing.T) {
	t.Parallel()
	for _, r := range []role{worker, controlPlane} {
		t.Run(string(r), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, r, blow{})
			w.live()
			if t.Failed() {
				return
			}
			for _, p := range w.points() {
				t.Run(p.String(), func(t *testing.T) {
					t.Parallel()
					for _, way := range p.ways() {
						t.Run(string(way), func(t *testing.T) {
							t.Parallel()
							command := fmt.Sprintf("go test ./internal/controllers/killpoints -run '^TestKillPoints$/^%s$/^%s$/^%s$'", r, regexp.QuoteMeta(p.String()), way)
							t.Cleanup(func() {
								if t.Failed() {
									t.Logf("to run it alone: %s", command)
								}
							})
							newWorld(t, r, blow{p, way}).live()
						})
					}
				})
			}
		})
	}
}

// points are the calls of a life, in their order.
func (w *world) points() []point {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]point, 0, len(w.calls))
	for _, c := range w.calls {
		all = append(all, c.point)
	}
	return all
}
