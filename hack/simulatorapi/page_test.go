package main

import (
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestPageTellsWhatIsModelledInPartAndNot(t *testing.T) {
	t.Parallel()
	page := write([]simulator.Operation{
		{Name: "machines read", Method: "GET", Path: "/machines/"},
		{Name: "machines allocate", Method: "POST", Path: "/machines/", Op: "allocate", Lacks: "This | that"},
		{Name: "subnet read", Method: "GET", Path: "/subnets/{specifier...}/"},
	}, []simulator.Operation{
		{Name: "machines clone", Method: "POST", Path: "/machines/", Op: "clone"},
		{Name: "machines create", Method: "POST", Path: "/machines/"},
		{Name: "sshkeys read", Method: "GET", Path: "/account/prefs/sshkeys/"},
	})
	for _, want := range []string{
		"Of 6 operations, 2 are modelled, and 1 more in part.\n",
		"\n## Machines\n\n| operation | request | in the simulator |\n|--|--|--|\n| `machines read` | `GET /machines/` | modelled |\n",
		"| `machines allocate` | `POST /machines/?op=allocate` | partly: this \\| that |\n\nNot modelled:\n\n* `/machines/`: `machines clone`, `machines create`\n",
		"| `subnet read` | `GET /subnets/{specifier}/` | modelled |\n",
		"\n## Users, keys and settings\n\nNot modelled:\n\n* `/account/prefs/sshkeys/`: `sshkeys read`\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%s", want, page)
		}
	}
}

func TestPageHasEveryOperationOfTheSimulatorOnce(t *testing.T) {
	t.Parallel()
	page := write(simulator.Operations(), simulator.NotModelled())
	for _, o := range simulator.Operations() {
		if n := strings.Count(page, "| `"+o.Name+"` | `"+request(o)+"` |"); n != 1 {
			t.Errorf("%s is %d times on the page", o.Name, n)
		}
	}
	for _, o := range simulator.NotModelled() {
		if !strings.Contains(page, "`"+o.Name+"`") {
			t.Errorf("%s is not on the page", o.Name)
		}
	}
}
