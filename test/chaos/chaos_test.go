package chaos

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// What `make chaos` says.
var (
	seeds = flag.Int("seeds", 50, "how many seeds are tried")
	from  = flag.Uint64("from", 1, "the first seed")
	only  = flag.Uint64("seed", 0, "the only seed that is tried, with its whole story")
)

func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(400) // worlds are small and many
	log.SetLogger(klog.New(log.NullLogSink{}))
	os.Exit(m.Run())
}

// TestSeeds lives the life of each seed.
func TestSeeds(t *testing.T) {
	t.Parallel()
	first, count := *from, *seeds
	if *only > 0 {
		first, count = *only, 1
	}
	began := time.Now()
	t.Cleanup(func() { t.Logf("%d seeds from %d on in %s", count, first, time.Since(began).Round(time.Second)) })
	for n := range count {
		seed := first + uint64(n)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed)
			defer w.close()
			w.lives()
			for _, text := range w.broken {
				t.Error(text)
			}
			if w.isBroken() {
				t.Logf("what MAAS holds:%s", w.holdings())
			}
			if t.Failed() {
				t.Logf("to live it again: make chaos SEED=%d\nthe end of its story:\n  %s", seed, w.story.last(lines()))
			} else if *only > 0 {
				t.Logf("its story:\n  %s", w.story.last(lines()))
			}
		})
	}
}

// lines is how many lines of a story are shown.
func lines() int {
	if *only > 0 {
		return 1_000_000
	}
	return 120
}

// TestTheSameSeedTellsTheSameStory lives some lives twice.
func TestTheSameSeedTellsTheSameStory(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1, 2, 3, 4, 5, 6} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			once, again := tells(t, seed), tells(t, seed)
			for n := range min(len(once.lines), len(again.lines)) {
				if once.lines[n] != again.lines[n] || once.drawn[n] != again.drawn[n] {
					t.Fatalf("line %d is, after %d throws of the dice,\n  %s\nand the second time, after %d,\n  %s\nbefore that was\n  %s", n,
						once.drawn[n], once.lines[n], again.drawn[n], again.lines[n], strings.Join(once.lines[max(0, n-10):n], "\n  "))
				}
			}
			if len(once.lines) != len(again.lines) {
				t.Fatalf("%d lines, and the second time %d", len(once.lines), len(again.lines))
			}
		})
	}
}

func tells(t *testing.T, seed uint64) story {
	t.Helper()
	w := newWorld(t, seed)
	defer w.close()
	w.lives()
	return w.story
}
