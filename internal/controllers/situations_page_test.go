package controllers_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const page = "../../docs/troubleshooting.md"

const pageHead = "<!-- Written by `go test ./internal/controllers -run Situations -update` from internal/controllers/situations_*_test.go: change it there. -->\n" + `
# What you see, and what to do

Whatever is wrong stands in a condition of the object. Look from the top down:

` + "```" + `
clusterctl describe cluster NAME --show-conditions all
kubectl describe maascluster NAME
kubectl describe maasmachine NAME
` + "```" + `

Each situation below was made with a simulated MAAS, and shows what is to be seen then: the condition, its reason and its message. Unless
it says otherwise, the object's Ready is False with the same reason and message. Search this page for the reason that you see.

The examples are of a cluster ` + "`prod`, its worker `prod-md-0` and its control-plane machine `prod-cp-0`" + `, with a MAAS at
` + "`maas.example.com` and machines `node1` to `node3` whose system IDs are `aaaaa1` to `aaaaa3`" + `. All reasons are in
[what the conditions say](conditions.md).

` + "`MAAS_ENDPOINT` and `MAAS_API_KEY` stand in the Secret `capmaas-manager-bootstrap-credentials` in the namespace `capmaas-system`" + `. The
manager reads them when it starts, so a change counts after a restart:

` + "```" + `
kubectl -n capmaas-system edit secret capmaas-manager-bootstrap-credentials
kubectl -n capmaas-system rollout restart deployment capmaas-controller-manager
` + "```" + `
`

func TestSituationsPage(t *testing.T) {
	t.Parallel()
	text := &strings.Builder{}
	text.WriteString(pageHead)
	for _, part := range sections() {
		fmt.Fprintf(text, "\n## %s\n\n%s\n", part.title, part.about)
		for _, s := range part.situations {
			s.write(text)
		}
	}
	writeRefusals(text)
	if *update {
		if err := os.WriteFile(page, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != text.String() {
		t.Errorf("%s is not what the table says: write it with 'go test ./internal/controllers -run Situations -update'", page)
	}
}

// write writes a situation's part of the page.
func (s situation) write(text *strings.Builder) {
	fmt.Fprintf(text, "\n### %s\n\n```\n%s %s  %s\n", s.name, s.kind(), s.object(), s.shows)
	for _, line := range wrap(s.message, 116) {
		fmt.Fprintf(text, "    %s\n", line)
	}
	text.WriteString("```\n")
	if notes := s.notes(); notes != "" {
		fmt.Fprintf(text, "\n%s\n", strings.Join(wrap(notes, 132), "\n"))
	}
	fmt.Fprintf(text, "\n%s\n", strings.Join(wrap(s.do, 132), "\n"))
}

func (s situation) kind() string {
	switch s.object() {
	case cluster:
		return "MaasCluster"
	case workers:
		return "MaasMachineTemplate"
	}
	return "MaasMachine"
}

// notes tells what else is to be seen: Ready where it is not the same, and the event.
func (s situation) notes() string {
	var notes []string
	switch _, reason, _ := strings.Cut(s.shows, " "); {
	case s.ready == "":
	case s.ready == "True Ready":
		notes = append(notes, "Ready stays True.")
	case s.ready == saysSo:
		notes = append(notes, "Ready stays True, with the same message.")
	case s.ready == "Unknown "+reason && s.readyMessage == s.message:
		notes = append(notes, "Ready is Unknown.")
	case strings.HasPrefix(s.shows, "Ready="):
	default:
		notes = append(notes, fmt.Sprintf("Ready is `%s`.", s.ready))
	}
	if s.event != "" && s.message == "" {
		return strings.Join(append(notes, fmt.Sprintf("There is a warning, `%s`: %s.", s.event, s.note)), " ")
	}
	if s.event != "" {
		notes = append(notes, fmt.Sprintf("There is a warning, `%s`.", s.event))
	}
	return strings.Join(notes, " ")
}

// wrap breaks a text into lines of at most so many bytes, if its words allow that.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
