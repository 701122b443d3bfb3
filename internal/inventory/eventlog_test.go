package inventory

import (
	"slices"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// MAAS shows an entry when its transaction is committed, which may be after later ones were read.
func TestLateEntriesAreReadOnce(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l := eventLog{}
	l.took(l.next(now), shown(100), now)
	committed := []int64{100}
	for _, step := range []struct {
		commit []int64
		after  int64 // what is asked for
		read   []int64
	}{
		{[]int64{101, 103, 105}, 100, []int64{101, 103, 105}},
		{[]int64{104, 106}, 101, []int64{104, 106}}, // 104 was late
		{nil, 101, nil}, // 102 may still come
		{[]int64{102}, 101, []int64{102}},
		{[]int64{107, 109}, 106, []int64{107, 109}},
		{nil, 107, nil},
		{nil, 107, nil},
		{nil, 107, nil},
		{nil, 107, nil},
		{nil, 107, nil},
		{[]int64{108, 110}, 109, []int64{110}}, // too late
	} {
		now = now.Add(2 * time.Second)
		committed = append(committed, step.commit...)
		asked := l.next(now)
		if asked.After != step.after {
			t.Fatalf("asked for what is after %d, want %d", asked.After, step.after)
		}
		var visible []int64
		for _, id := range committed {
			if id > asked.After {
				visible = append(visible, id)
			}
		}
		var read []int64
		for _, e := range l.took(asked, shown(visible...), now).events {
			read = append(read, e.ID)
		}
		if !slices.Equal(read, step.read) {
			t.Fatalf("after the commit of %v: read %v, want %v", step.commit, read, step.read)
		}
	}
}

// shown is a page as MAAS answers it.
func shown(ids ...int64) maas.EventPage {
	page := maas.EventPage{}
	slices.Sort(ids)
	for _, id := range ids {
		page.Events = append([]maas.Event{{ID: id}}, page.Events...)
		page.LastID = id
	}
	return page
}

// A log with many numbers missing, as where much is written that is not asked for, costs no more than the newest of them.
func TestGapsAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l := eventLog{}
	l.took(l.next(now), shown(100), now)
	l.took(l.next(now), shown(100_000), now)
	if len(l.gaps) > mostGaps {
		t.Errorf("%d gaps are kept", len(l.gaps))
	}
	now = now.Add(gapLife + time.Second)
	if after := l.next(now).After; after != 100_000 {
		t.Errorf("asks for what is after %d for ever", after)
	}
}

// After a while away there are many pages to read, with numbers missing on each. Who waited for those would read the pages again.
func TestABacklogIsReadOnce(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l := eventLog{}
	l.took(l.next(now), shown(100), now)
	var committed []int64
	for id := int64(101); id < 100+5*pageSize; id++ {
		if id%10 != 0 { // of a level that is not asked for
			committed = append(committed, id)
		}
	}
	now = now.Add(pollAtRest)
	read, pages := 0, 0
	for more := true; more; pages++ {
		asked := l.next(now)
		at := slices.IndexFunc(committed, func(id int64) bool { return id > asked.After })
		p := l.took(asked, shown(committed[at:min(at+pageSize, len(committed))]...), now)
		read, more = read+len(p.events), p.more
		if pages > 5 {
			t.Fatalf("%d pages were asked for, and %d of %d events read", pages, read, len(committed))
		}
	}
	if read != len(committed) {
		t.Errorf("%d of %d events were read", read, len(committed))
	}
}

// Something between us and MAAS may answer each request with the same page.
func TestAPageWithoutNewsIsNotAskedForAgainAtOnce(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l := eventLog{}
	l.took(l.next(now), shown(100), now)
	var ids []int64
	for id := range int64(pageSize) {
		ids = append(ids, 101+id)
	}
	for _, more := range []bool{true, false, false} {
		if p := l.took(l.next(now), shown(ids...), now); p.more != more {
			t.Errorf("more: %t, want %t", p.more, more)
		}
	}
}
