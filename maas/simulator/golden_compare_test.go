package simulator

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"reflect"
	"slices"
	"sort"
	"strings"
)

// arbitrary are keys whose values mean nothing in the recordings.
func arbitrary() []string {
	return []string{
		"primary_rack", "disabled_boot_architectures", "firmware_version", "hardware_uuid", "cpu_speed",
		"serial", "uuid", "current_installation_result_id", "current_commissioning_result_id", "current_testing_result_id", madeUpVersion,
		"cpu_test_status", "cpu_test_status_name", "other_test_status", "other_test_status_name", "storage_test_status", "storage_test_status_name",
		"memory_test_status", "memory_test_status_name", "network_test_status", "network_test_status_name", "interface_test_status",
		"interface_test_status_name",
	}
}

// normal drops what is arbitrary from a decoded JSON value.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			if slices.Contains(arbitrary(), key) {
				out[key] = "any"
				continue
			}
			if moment, ok := value.(string); ok && key == "created" {
				out[key] = strings.Map(func(r rune) rune {
					if r >= '0' && r <= '9' {
						return '0'
					}
					return r
				}, moment)
				continue
			}
			out[key] = normal(value)
		}
		if list, ok := out["resource_records"].([]any); ok {
			sort.Slice(list, func(i, j int) bool { return fmt.Sprint(list[i]) < fmt.Sprint(list[j]) })
		}
		if list, ok := out["ip_addresses"].([]any); ok {
			sort.Slice(list, func(i, j int) bool { return fmt.Sprint(list[i]) < fmt.Sprint(list[j]) })
		}
		if _, isNIC := v["mac_address"]; isNIC {
			for _, key := range []string{"id", "mac_address", "resource_uri"} {
				out[key] = "any"
			}
			normalNIC(out)
		}
		_, isDisk := v["block_size"]
		_, isPartition := v["device_id"]
		if isDisk || isPartition {
			for _, key := range []string{"id", "device_id", "resource_uri"} {
				out[key] = "any"
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = normal(item)
		}
		return out
	}
	return v
}

// normalNIC drops what the recording's fixtures invented in an interface: tags,
// and the numbers of its links.
func normalNIC(nic map[string]any) {
	if tags, ok := nic["tags"].([]any); ok {
		nic["tags"] = slices.DeleteFunc(tags, func(tag any) bool { return strings.HasPrefix(fmt.Sprint(tag), "tag-") })
	}
	links, _ := nic["links"].([]any)
	for _, link := range links {
		link.(map[string]any)["id"] = "any"
	}
}

// difference tells in what an answer differs from the recording; "" for equal.
func (w *world) difference(ex *exchange, got *httptest.ResponseRecorder) string {
	want := &ex.Response
	switch {
	case got.Code != want.Status:
		return fmt.Sprintf("status %d, want %d; body %.200q", got.Code, want.Status, got.Body)
	case got.Header().Get("Content-Type") != want.ContentType:
		return fmt.Sprintf("content type %q, want %q", got.Header().Get("Content-Type"), want.ContentType)
	}
	for key, value := range want.Headers {
		if key == "X-MAAS-API-Hash" {
			value = apiHash
		}
		if here := got.Header().Get(key); here != value {
			return fmt.Sprintf("header %s is %q, want %q", key, here, value)
		}
	}
	if want.Headers != nil && want.Headers["X-MAAS-API-Hash"] == "" && got.Header().Get("X-MAAS-API-Hash") != "" {
		return "the API hash is there, want none"
	}
	switch {
	case want.BodyFields != nil:
		return fieldsDiffer(ex, got.Body.Bytes())
	case want.BodyMachines != nil:
		return machinesDiffer(want.BodyMachines, got.Body.Bytes())
	case want.Body != nil:
		return w.bodyDiffers(ex.Name, w.local(*want.Body), got.Body.String())
	}
	return ""
}

func (w *world) bodyDiffers(name, want, got string) string {
	if want == got {
		return ""
	}
	if begin, cut := strings.CutSuffix(want, "…"); cut {
		lines := strings.Count(begin, "\n") // the last one is not whole
		want, got = firstLines(begin, lines), firstLines(got, lines)
		if !slices.Equal(wordsOf(want), wordsOf(got)) {
			return fmt.Sprintf("body begins %q, want %q", got, want)
		}
		return ""
	}
	var a, b any
	if json.Unmarshal([]byte(want), &a) != nil || json.Unmarshal([]byte(got), &b) != nil {
		return fmt.Sprintf("body %q, want %q", got, want)
	}
	x, y := normal(a), normal(b)
	for _, key := range quirks()[name] {
		for _, body := range []any{x, y} {
			if object, ok := body.(map[string]any); ok {
				object[key] = "any"
			}
		}
	}
	if reflect.DeepEqual(x, y) || sameWords(want, got) {
		return ""
	}
	return "body: " + firstDifference("", x, y)
}

// sameWords lets a message list its words in any order, as MAAS's sets do.
func sameWords(a, b string) bool {
	if len(a) > 400 || len(a) != len(b) || strings.Contains(a, "\n") {
		return false
	}
	return slices.Equal(wordsOf(a), wordsOf(b))
}

func wordsOf(s string) []string {
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" ,.[]\"'{}\n", r) })
	sort.Strings(words)
	return words
}

// quirks are values that depend on how long the recording waited, or that MAAS
// had looked up before it changed what they show.
func quirks() map[string][]string {
	power := []string{"power_state"}
	return map[string][]string{"machine.mark_broken": {"boot_disk"}, "deploy.kernel-old": power, "deploy.bad-bool": power, "deploy.rack-lacks-image.after": power, "power_on.allocated": power, "power_on.allocated.after": power}
}

func firstDifference(path string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		other, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			value, there := other[key]
			if !there {
				return path + "." + key + " is missing"
			}
			if d := firstDifference(path+"."+key, want[key], value); d != "" {
				return d
			}
		}
		for key := range other {
			if _, there := want[key]; !there {
				return path + "." + key + " should not be there"
			}
		}
		return ""
	case []any:
		other, ok := got.([]any)
		if !ok || len(other) != len(want) {
			break
		}
		for i := range want {
			if d := firstDifference(fmt.Sprintf("%s[%d]", path, i), want[i], other[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("%s is %.300v, want %.300v", path, got, want)
}

// fieldsDiffer compares the fields of a machine that the recording kept.
func fieldsDiffer(ex *exchange, body []byte) string {
	want := ex.Response.BodyFields
	var got map[string]any
	if err := json.Unmarshal(body, &got); err != nil {
		return err.Error()
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		expected, here := want[key], got[key]
		// Fixtures that were deployed by other means may lack a kernel.
		if slices.Contains(arbitrary(), key) || slices.Contains(quirks()[ex.Name], key) || (key == "hwe_kernel" && !strings.Contains(ex.Name, "deploy.")) {
			continue
		}
		switch key {
		case "note":
			continue
		case "status_message", "status_action":
			if slices.Contains(rackEvents(), ex.Name) {
				continue
			}
		case "owner_data", "workload_annotations":
			if d := annotationsDiffer(expected, here); d != "" {
				return key + ": " + d
			}
			continue
		case "hostname", "fqdn", "system_id":
			continue
		case "ip_addresses":
			expected, here = len(expected.([]any)), len(here.([]any))
		case "zone", "pool", "domain":
			here = here.(map[string]any)["name"]
		case "constraints_by_type":
			expected = slices.Sorted(maps.Keys(expected.(map[string]any)))
			here = slices.Sorted(maps.Keys(here.(map[string]any)))
		}
		if !reflect.DeepEqual(expected, here) {
			return fmt.Sprintf("%s is %v, want %v", key, here, expected)
		}
	}
	return ""
}

// annotationsDiffer compares annotations; the recordings shorten long values.
func annotationsDiffer(want, got any) string {
	for key, value := range want.(map[string]any) {
		here, _ := got.(map[string]any)[key].(string)
		if text, _ := value.(string); here != text && len(text) < 1000 {
			return fmt.Sprintf("%s is %.100q, want %.100q", key, here, text)
		}
	}
	if len(want.(map[string]any)) != len(got.(map[string]any)) {
		return fmt.Sprintf("%v, want %v", got, want)
	}
	return ""
}

func machinesDiffer(want []string, body []byte) string {
	var got []struct{ Hostname string }
	if err := json.Unmarshal(body, &got); err != nil {
		return err.Error()
	}
	names := []string{}
	for _, m := range got {
		names = append(names, m.Hostname)
	}
	if !slices.Equal(want, names) {
		return fmt.Sprintf("machines %v, want %v", names, want)
	}
	return ""
}

// rowDiffers compares what the region holds with the recorded machine's row.
func (w *world) rowDiffers(ex *exchange) string {
	m, ok := w.region.state.machines.get(machineOfPath(ex.Request.Path))
	if ex.DBAfter == nil || !ok {
		return ""
	}
	here := map[string]any{
		"status": float64(m.status), "owner": nil, "agent_name": m.agentName, "osystem": m.osystem, "distro_series": m.series, "power_state": m.powerState,
	}
	if m.owner != "" {
		here["owner"] = m.owner
	}
	for key, value := range ex.DBAfter {
		if key == "agent_name" && m.agentName == "" || slices.Contains(quirks()[ex.Name], key) {
			continue // fixtures give machines an agent that nothing asks for
		}
		if !reflect.DeepEqual(here[key], value) {
			return fmt.Sprintf("afterwards %s is %v, want %v", key, here[key], value)
		}
	}
	return ""
}

// firstLines is the beginning of a text, so many lines of it.
func firstLines(text string, n int) string {
	lines := strings.SplitAfterN(text, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "")
}
