package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func (c *control) snapshot(*http.Request) (any, error) { return c.region.Snapshot(), nil }
func (c *control) requests(*http.Request) (any, error) { return c.region.Requests(), nil }

func (c *control) addMachine(req *http.Request) (any, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	content, err := toJSON(body)
	if err != nil {
		return nil, err
	}
	var machine simulator.Machine
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&machine); err != nil {
		return nil, fmt.Errorf("a machine: %w", err)
	}
	id, err := c.region.AddMachine(machine)
	if err != nil {
		return nil, err
	}
	added, _ := c.region.Machine(id)
	return added, nil
}

// act does at once what an operator does, and returns the machine as it is then.
func (c *control) act(req *http.Request) (any, error) {
	machine, ok := c.find(req.PathValue("machine"))
	if !ok {
		return nil, statusError{fmt.Errorf("there is no machine with the hostname or system ID %q", req.PathValue("machine")), http.StatusNotFound}
	}
	if err := req.ParseForm(); err != nil {
		return nil, err
	}
	f := Fault{Do: Do(req.PathValue("act")), Machine: Names{machine.SystemID}}
	fields := map[string]*string{"to": &f.To, "reason": &f.Reason, "image": &f.Image}
	for _, name := range slices.Sorted(maps.Keys(req.Form)) {
		if fields[name] == nil {
			return nil, fmt.Errorf("%s: no such parameter; there are to, reason and image", name)
		}
		*fields[name] = req.Form.Get(name)
	}
	word, known := wordOf(f.Do)
	if !known || word.Group != ByOperators && f.Do != FailDeployment {
		return nil, statusError{fmt.Errorf("%q is nothing that operators do; there are %s", f.Do, actNames()), http.StatusNotFound}
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if err := c.carryOut(f, word, machine); err != nil {
		return nil, err
	}
	after, there := c.region.Machine(machine.SystemID)
	if !there {
		return nil, nil
	}
	return after, nil
}

func (c *control) carryOut(f Fault, word Word, machine simulator.MachineSnapshot) error {
	if f.Do != FailDeployment {
		_, err := act(c.region, f, machine)
		return err
	}
	if machine.Status != simulator.StatusDeploying {
		return statusError{fmt.Errorf("machine %s is %s, and not being deployed", machine.Hostname, machine.StatusName), http.StatusConflict}
	}
	reason := f.Reason
	if reason == "" {
		reason = word.reason
	}
	return c.region.FailDeployment(machine.SystemID, reason)
}

// find looks a machine up by its hostname or system ID.
func (c *control) find(name string) (simulator.MachineSnapshot, bool) {
	if m, ok := c.region.Machine(name); ok {
		return m, true
	}
	machines := c.region.Snapshot().Machines
	if n := slices.IndexFunc(machines, func(m simulator.MachineSnapshot) bool { return m.Hostname == name }); n >= 0 {
		return machines[n], true
	}
	return simulator.MachineSnapshot{}, false
}
