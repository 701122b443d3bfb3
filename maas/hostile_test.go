package maas

import (
	"context"
	"strings"
	"testing"
)

// marker stands in answers, and must stand in no error.
const marker = "m4rk3r"

// hostileAnswers are JSON, and not what MAAS would send.
func hostileAnswers() map[string]string {
	return map[string]string{
		"null": `null`, "a number": `5`, "a text": `"` + marker + `"`, "an empty object": `{}`, "a list of null": `[null]`, "a list of numbers": `[5]`,
		"a list of lists":     `[["` + marker + `"]]`,
		"a number for a text": `{"system_id":5,"name":5,"username":5,"version":5,"hostname":"` + marker + `"}`,
		"a text for a number": `{"system_id":"4y3h7n","id":"` + marker + `","status":"` + marker + `"}`,
		"a text for a list":   `{"system_id":"4y3h7n","status":4,"tag_names":"` + marker + `","events":"` + marker + `"}`,
		"a list for an object": `{"system_id":"4y3h7n","status":4,"zone":["` + marker + `"],"workload_annotations":["` + marker +
			`"],"boot_disk":["` + marker + `"]}`,
		"a key of several lines": `[{"` + marker + `\n\u0000":{}}]`,
		"no number that fits":    `{"system_id":"4y3h7n","status":1e999,"id":123456789012345678901234567890}`,
		"nesting":                strings.Repeat(`[`, 20_000),
		"nested objects":         strings.Repeat(`{"zone":`, 20_000),
		"cut off":                `[{"system_id":"` + marker,
		"more than one":          `{} {"` + marker + `":1}`,
		"no UTF-8":               "{\"system_id\":\"\xff" + marker + "\"}",
	}
}

func TestAnswersOfWrongTypesAreToldWithoutRepeatingThem(t *testing.T) {
	t.Parallel()
	reads, writes := operations()
	for what, body := range hostileAnswers() {
		c, _ := answering(t, text(200, "application/json", body))
		for _, calls := range []map[string]func(context.Context, *Client) error{reads, writes} {
			for name, call := range calls {
				err := call(t.Context(), c)
				checkMessage(t, err)
				if err != nil && (strings.Contains(err.Error(), marker) || !strings.HasPrefix(err.Error(), "maas: ")) {
					t.Errorf("%s, %s: %v", name, what, err)
				}
			}
		}
	}
}

// Fields that MAAS may send as null are absent.
func TestFieldsThatAreNullAreAbsent(t *testing.T) {
	t.Parallel()
	c, _ := answering(t, text(200, "application/json", `{"system_id":"4y3h7n","status":4,"hostname":null,"owner":null,"zone":null,"pool":null,"domain":null,
		"cpu_count":null,"memory":null,"storage":null,"tag_names":null,"ip_addresses":[null],"boot_interface":null,"interface_set":[null,{"links":null,"vlan":null},
		{"links":[null,{"subnet":null,"ip_address":null}]}],"boot_disk":null,"blockdevice_set":null,"workload_annotations":null,"pod":null,"power_state":null}`))
	m, err := c.Machine(t.Context(), "4y3h7n")
	if err != nil || m.Owner != "" || m.Zone.Name != "" || m.CPUCount != 0 || len(m.IPAddresses) != 0 || m.BootInterface != nil || len(m.Interfaces) != 3 {
		t.Errorf("%+v, %v", m, err)
	}
	c, _ = answering(t, text(200, "application/json", `{"system_id":"4y3h7n","status":null}`))
	if _, err := c.Machine(t.Context(), "4y3h7n"); err == nil {
		t.Error("a machine in no state at all")
	}
}

func FuzzAnswers(f *testing.F) {
	for _, body := range hostileAnswers() {
		if len(body) < 1000 {
			f.Add(body)
		}
	}
	reads, _ := operations()
	f.Fuzz(func(t *testing.T, body string) {
		c := clientOf(t, "http://maas.example", func(c *Config) { c.Transport = canned(text(200, "application/json", body)) })
		for _, call := range reads {
			checkMessage(t, call(t.Context(), c))
		}
	})
}
