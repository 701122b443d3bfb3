package maas

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

func TestListsOfAnotherShapeAreNotMAAS(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", "null", "{}", "[", "[1]", `[{"system_id":"4y3h7n"}]`, "[" + machineJSON("4y3h7n"), "[" + machineJSON("4y3h7n") + ",",
		"[" + machineJSON("4y3h7n") + "]x", "[][]", "<html>",
	} {
		c, _ := answering(t, text(200, "application/json", body))
		machines, err := c.Machines(context.Background(), MachineFilter{})
		if !errors.Is(err, ErrNotMAAS) || machines != nil {
			t.Errorf("%q: got %v, %v", body, machines, err)
		}
		checkMessage(t, err)
	}
}

func TestAnEmptyListIsAList(t *testing.T) {
	t.Parallel()
	c, _ := answering(t, text(200, "application/json", " [ ] \n"))
	if machines, err := c.Machines(context.Background(), MachineFilter{}); err != nil || machines == nil || len(machines) > 0 {
		t.Errorf("got %v, %v", machines, err)
	}
}

// hall answers with a list of n machines as large as MAAS's own, without making it whole either.
func hall(n int) http.HandlerFunc {
	filler := `,"commissioning":"` + strings.Repeat("x", 50_000) + `"}`
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		separator := "["
		for i := range n {
			_, _ = io.WriteString(w, separator+strings.TrimSuffix(machineJSON(fmt.Sprintf("m%05d", i)), "}")+filler)
			separator = ","
		}
		_, _ = io.WriteString(w, "]")
	}
}

func TestAListThatIsCutOffSaysNothing(t *testing.T) {
	t.Parallel()
	c, _ := answering(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		hall(3)(w, r)
	}))
	machines, err := c.Machines(context.Background(), MachineFilter{})
	if !errors.Is(err, ErrUnavailable) || machines != nil {
		t.Errorf("got %d machines, %v", len(machines), err)
	}
}

// A list of a thousand machines is about 50 MB. A manager that may have 256 MiB reads it bit by bit.
func BenchmarkListOfAThousandMachines(b *testing.B) {
	c, _ := answering(b, hall(1000))
	b.ReportAllocs()
	for b.Loop() {
		machines, err := c.Machines(context.Background(), MachineFilter{})
		if err != nil || len(machines) != 1000 {
			b.Fatal(len(machines), err)
		}
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		b.ReportMetric(float64(memory.HeapSys)/(1<<20), "MiB-heap")
	}
}
