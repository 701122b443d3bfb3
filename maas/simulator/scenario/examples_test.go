package scenario

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// Every scenario that comes with the project is read and played against a
// client that wants four machines, and each of its faults strikes.
func TestExamplesStrike(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../docs/scenarios/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Parse(content)
			if err != nil {
				t.Fatal(err)
			}
			here := "docs/scenarios/" + filepath.Base(file)
			howTo := strings.Contains(string(content), "--scenario "+here) || strings.Contains(string(content), "SCENARIO="+here)
			if s.Description == "" || !howTo {
				t.Error("it does not say what it is, or how to play it")
			}
			w := play(t, "- {do: away, after: 24h}", func(cfg *simulator.Config) {
				cfg.Machines = nil
				cfg.Zones = []simulator.Zone{{Name: "rack-a"}, {Name: "rack-b"}, {Name: "rack-c"}}
				for n := range 8 {
					cfg.Machines = append(cfg.Machines, simulator.Machine{
						Hostname: "machine-" + strconv.Itoa(n+1), Tags: []string{"worker"}, Zone: "rack-" + string(rune('a'+n%3)),
					})
				}
			})
			w.clock.MoveWithRequests(true)
			if err := w.running.Replace(s); err != nil {
				t.Fatal(err)
			}
			for range 60 {
				w.want(4)
				w.clock.Advance(10 * time.Second)
			}
			for _, state := range w.running.Faults() {
				if state.Struck == 0 {
					t.Errorf("%s never struck: matched %d", state.Fault.Name, state.Matched)
				}
			}
			t.Log("\n" + strings.Join(w.lines, "\n"))
		})
	}
}

// want is a client that claims a machine at a time until it has so many, marks
// and deploys what it has, and keeps a name in DNS.
func (w *world) want(count int) {
	mine, err := w.client.Machines(w.t.Context(), maas.MachineFilter{AgentName: "claim"})
	if err != nil {
		return
	}
	good := 0
	for i := range mine {
		switch mine[i].Status {
		case maas.StatusAllocated:
			_, _ = w.client.SetWorkloadAnnotations(w.t.Context(), mine[i].SystemID, map[string]string{"cluster": "example"})
			w.deploy(mine[i].SystemID)
			good++
		case maas.StatusDeploying, maas.StatusDeployed:
			good++
		}
	}
	if good < count {
		_, _ = w.client.Allocate(w.t.Context(), maas.AllocateParams{AgentName: "claim"})
	}
	params := maas.DNSResourceParams{Name: "example", Domain: "maas"}
	if found, err := w.client.DNSResources(w.t.Context(), maas.DNSResourceFilter{FQDN: "example.maas"}); err == nil && len(found) == 0 {
		_, _ = w.client.CreateDNSResource(w.t.Context(), params)
	} else if err == nil {
		_, _ = w.client.UpdateDNSResource(w.t.Context(), found[0].ID, params)
	}
}
