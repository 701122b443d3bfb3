package remediation

import (
	"reflect"
	"testing"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestProgressIsReadAsItWasStored(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Progress{
		"nothing":   {},
		"off":       {Cycles: []time.Time{noon}},
		"on again":  {Cycles: []time.Time{noon, noon.Add(time.Hour)}, On: &noon},
		"given up":  {Cycles: []time.Time{noon}, On: &noon, GaveUp: &GaveUp{At: noon, Because: NotRecovered, Off: true}},
		"not a try": {GaveUp: &GaveUp{At: noon, Because: InMemory}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			machine := &infrav1.MaasMachine{}
			want.Store(machine)
			if got := Of(machine); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestProgressThatSomebodyEditedIsNone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "yes", `{"cycles":["yesterday"]}`, `{"cycles":3}`, `[]`} {
		machine := &infrav1.MaasMachine{}
		machine.Annotations = map[string]string{infrav1.RemediationAnnotation: text}
		if got := Of(machine); !reflect.DeepEqual(got, Progress{}) {
			t.Errorf("%q: got %+v", text, got)
		}
	}
}

func TestProgressDoesNotGrowForEver(t *testing.T) {
	t.Parallel()
	machine, p := &infrav1.MaasMachine{}, Progress{}
	for i := range 100 {
		p.Cycles = append(p.Cycles, noon.Add(time.Duration(i)*time.Minute))
	}
	p.Store(machine)
	if got := Of(machine); len(got.Cycles) != maxCycles || !got.Last().Equal(noon.Add(99*time.Minute)) {
		t.Errorf("kept %d, the last at %s", len(got.Cycles), got.Last())
	}
}

func TestWhoKeepsTheMachineOff(t *testing.T) {
	t.Parallel()
	cycle := []time.Time{noon}
	for name, test := range map[string]struct {
		p                         Progress
		switchingOff, keeps, busy bool
	}{
		"nothing was done":      {Progress{}, false, false, false},
		"it is to go off":       {Progress{Cycles: cycle}, true, true, true},
		"it is on again":        {Progress{Cycles: cycle, On: &noon}, false, false, true},
		"given up, and off":     {Progress{Cycles: cycle, On: &noon, GaveUp: &GaveUp{Off: true}}, false, true, false},
		"given up, and left on": {Progress{Cycles: cycle, GaveUp: &GaveUp{}}, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := noon.Add(time.Minute)
			if got := [...]bool{test.p.SwitchingOff(), test.p.KeepsOff(), test.p.IsUnderWay(now, 2*time.Minute)}; got != [...]bool{test.switchingOff, test.keeps, test.busy} {
				t.Errorf("switching off, keeps off, under way: %v", got)
			}
			if test.p.IsUnderWay(now, time.Minute) {
				t.Error("it is under way for ever")
			}
		})
	}
}
