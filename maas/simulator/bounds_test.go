package simulator

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestTheAccessLogIsBoundedInNumberAndSize(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		n    int
		// least and most are how many are kept.
		least, most int
	}{
		"small ones": {"x", 3*mostLogged + 10, mostLogged / 2, mostLogged},
		"large ones": {strings.Repeat("x", 1<<20), 100, 31, 64},
		"huge ones":  {strings.Repeat("x", mostLoggedBytes+1), 3, 1, 1},
	} {
		var log accessLog
		for i := range tt.n {
			log.add(Request{Path: "/", Form: url.Values{"text": {tt.text}}, Bytes: i})
			if len(log.entries) > tt.most {
				t.Fatalf("%s: %d entries are kept", name, len(log.entries))
			}
		}
		if kept := len(log.entries); kept < tt.least || log.entries[kept-1].Bytes != tt.n-1 {
			t.Errorf("%s: %d of the newest are kept, want %d", name, kept, tt.least)
		}
		sum := 0
		for _, entry := range log.entries {
			sum += entry.size()
		}
		if sum != log.bytes {
			t.Errorf("%s: the log counts %d bytes, it has %d", name, log.bytes, sum)
		}
	}
}

func TestTheNewestEventsAreKept(t *testing.T) {
	t.Parallel()
	region, err := New(Config{Machines: []Machine{{Hostname: "a"}}, Clock: NewVirtualClock(time.Unix(0, 0))})
	if err != nil {
		t.Fatal(err)
	}
	id := region.Snapshot().Machines[0].SystemID
	const written = 2*mostEvents + 7
	for range written {
		if err := region.LogEvent(id, "INFO", "Something", ""); err != nil {
			t.Fatal(err)
		}
	}
	events := region.Snapshot().Events
	if n := len(events); n < mostEvents || n > mostEvents+mostEvents/4 || events[n-1].ID != written || events[0].ID != written-n+1 {
		t.Errorf("%d events are kept, from %d to %d", n, events[0].ID, events[n-1].ID)
	}
}

func TestMACAddressesAreUnique(t *testing.T) {
	t.Parallel()
	const mac = "52:54:00:00:00:01"
	if _, err := New(Config{Machines: []Machine{{Hostname: "a", MAC: mac}, {Hostname: "b", MAC: strings.ToUpper(mac)}}}); err == nil || !strings.Contains(err.Error(), `machine "b": another machine has mac`) {
		t.Errorf("two machines with one MAC address: %v", err)
	}
	region, err := New(Config{Inventory: []Group{{Count: 10_000, Hostname: "n{n}"}}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range region.state.machines.all() {
		if seen[m.nics[0].mac] {
			t.Errorf("two machines have %s", m.nics[0].mac)
		}
		seen[m.nics[0].mac] = true
	}
	if _, err := region.AddMachine(Machine{Hostname: "late", MAC: region.state.machines.all()[0].nics[0].mac}); err == nil {
		t.Error("a machine with the MAC address of another was added")
	}
	if _, err := region.AddMachine(Machine{Hostname: "n1"}); err == nil {
		t.Error("a machine with the name of another was added")
	}
}
