package simulator

import (
	"fmt"
	"net/http"
	"strings"
)

// machineDetailOperations are the calls that show what MAAS keeps about a
// machine beside its JSON.
func machineDetailOperations() []operation {
	return []operation{
		{http.MethodGet, "/machines/", "power_parameters", admins, listPowerParameters, ""},
		{http.MethodGet, "/machines/{system_id}/", "power_parameters", machineReaders, readPowerParameters, ""},
		{http.MethodGet, "/machines/{system_id}/", "get_token", machineReaders, readMachineToken, ""},
		{
			http.MethodGet, "/machines/{system_id}/", "details", viewers, readDetails,
			"What commissioning finds of a machine (lshw, lldp) is empty",
		},
		{
			http.MethodGet, "/machines/{system_id}/", "get_curtin_config", viewers, readCurtinConfig,
			"Has the sections of packages, kernel, network and storage only",
		},
	}
}

// bmcUser is whom MAAS makes on the BMCs it knows.
const bmcUser = "maas"

// defaultPowerParameters are those of a machine whose configuration has none.
func (m *machine) defaultPowerParameters() map[string]string {
	if m.powerType != "ipmi" {
		return nil
	}
	return map[string]string{
		"power_driver": "LAN_2_0", "power_user": bmcUser, "power_pass": "password-of-" + m.systemID,
		"power_address": fmt.Sprintf("10.9.%d.%d", m.id/250%250, m.id%250+1),
	}
}

func (m *machine) shownPowerParameters() map[string]string {
	if m.powerParameters == nil {
		return map[string]string{}
	}
	return m.powerParameters
}

func readPowerParameters(c *call) (*answer, *refusal) { return ok(c.machine.shownPowerParameters()) }

// listPowerParameters answers those of all machines, or of some, by system ID.
func listPowerParameters(c *call) (*answer, *refusal) {
	wanted := map[string]bool{}
	for _, id := range c.query.all("id") {
		wanted[id] = true
	}
	out := map[string]map[string]string{}
	for _, m := range c.machines.all() {
		if len(wanted) == 0 || wanted[m.systemID] {
			out[m.systemID] = m.shownPowerParameters()
		}
	}
	return ok(out)
}

// setPowerParameters takes a machine's power parameters from a form. A new
// power type begins without any.
func (c *call) setPowerParameters(m *machine, newType bool) {
	out := map[string]string{}
	if !newType {
		for key, value := range m.powerParameters {
			out[key] = value
		}
	}
	const prefix = "power_parameters_"
	for _, field := range c.form.keys {
		if name, found := strings.CutPrefix(field, prefix); found && name != "skip_check" {
			out[name] = c.form.get(field)
		}
	}
	m.powerParameters = out
}

// readMachineToken answers the key with which a machine speaks to the metadata
// service; null before its first deploy.
func readMachineToken(c *call) (*answer, *refusal) {
	k := c.machine.token
	if k == nil {
		return ok(nil)
	}
	return ok(struct {
		Token    string `json:"token_key"`
		Secret   string `json:"token_secret"`
		Consumer string `json:"consumer_key"`
	}{k.key, k.secret, k.consumer})
}

// readDetails answers a BSON document with two empty binaries.
func readDetails(*call) (*answer, *refusal) {
	return &answer{status: http.StatusOK, contentType: "application/bson", body: bsonBinaries("lldp", "lshw")}, nil
}

// bsonBinaries is a document whose fields are binaries of no bytes: its
// length, each field's kind, name, length and subtype, and a closing zero.
func bsonBinaries(names ...string) []byte {
	const binary = 0x05
	doc := []byte{0, 0, 0, 0}
	for _, name := range names {
		doc = append(append(append(doc, binary), name...), 0)
		doc = append(doc, 0, 0, 0, 0, 0)
	}
	doc = append(doc, 0)
	doc[0], doc[1] = byte(len(doc)), byte(len(doc)>>8)
	return doc
}
