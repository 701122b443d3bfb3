package scenario

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// The reference beside the scenarios says of every word and field what the code
// says, and nothing else; its examples can be read.
func TestTheReferenceIsComplete(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../../docs/scenarios/README.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	rows := map[string]bool{}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "| `") {
			rows[strings.TrimSpace(line)] = true
		}
	}
	for _, w := range Words() {
		fields := make([]string, 0, len(w.Fields))
		for _, name := range w.Fields {
			fields = append(fields, "`"+name+"`")
		}
		row := fmt.Sprintf("| `%s` | %s | %s |", w.Do, strings.Join(fields, " "), w.Effect)
		if !rows[row] {
			t.Errorf("it lacks\n%s", row)
		}
		delete(rows, row)
	}
	var f Fault
	for name := range f.fields() {
		said := false
		for row := range rows {
			// A row may be about several fields: | `status`, `body` | …
			first, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
			if strings.Contains(first, "`"+name+"`") {
				said = true
			}
		}
		if !said {
			t.Errorf("no row is about the field %s", name)
		}
	}
	for row := range rows {
		first, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		for part := range strings.SplitSeq(first, ", ") {
			if name := strings.Trim(part, "`"); f.fields()[name] == nil && !strings.HasPrefix(name, "GET ") && !strings.HasPrefix(name, "POST ") && !strings.HasPrefix(name, "PUT ") && !strings.HasPrefix(name, "DELETE ") {
				t.Errorf("%s is neither a word nor a field", name)
			}
		}
	}
	for _, name := range simulator.PresetAnswers() {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("it does not name the answer %s", name)
		}
	}
	for _, e := range (&control{}).endpoints() {
		method, path, _ := strings.Cut(strings.TrimSuffix(e.pattern, "{$}"), " ")
		if row := fmt.Sprintf("| `%s %s` | %s |", method, path, e.does); !rows[row] {
			t.Errorf("it lacks\n%s", row)
		}
	}
	for n, block := range strings.Split(page, "```yaml\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		if _, err := Parse([]byte(text)); err != nil {
			t.Errorf("example %d: %v", n+1, err)
		}
	}
}
