package docs

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator/scenario"
)

// Whoever types what docs/simulator.md says sees what it shows.
func TestCommandsOfTheSimulatorsPageDoWhatItShows(t *testing.T) {
	t.Parallel()
	page := read(t, checkout+"/docs/simulator.md")
	blocks, err := blocksOf(page)
	if err != nil {
		t.Fatal(err)
	}
	commands, others := commandsOf(blocks)
	if len(commands) < 3 {
		t.Fatalf("the page has %d blocks of commands; is the pattern right?", len(commands))
	}
	needs(t, commands, "curl", "jq", "dig")
	shell := newShell(t, page, buildPrograms(t, "maas-simulator", "capmaas"))
	if err := shell.write("image.tar.gz", "any content will do\n"); err != nil {
		t.Fatal(err)
	}
	for _, b := range others {
		if err := useOther(shell, b); err != nil {
			t.Errorf("docs/simulator.md:%d: %v", b.line, err)
		}
	}
	ran := 0
	for _, c := range commands {
		if reason, untested := c.marks[markUntested]; untested {
			if reason == "" {
				t.Errorf("docs/simulator.md:%d is not tested, without a reason", c.line)
			}
			continue
		}
		ran++
		if err := shell.run(c); err != nil {
			// What comes after it builds on it.
			t.Fatalf("docs/simulator.md:%d:\n%s%v", c.line, c.text, err)
		}
	}
	t.Logf("ran %d of %d blocks of commands", ran, len(commands))
}

// useOther does what is to be done with a block that is neither commands nor their output: files are written, and YAML without a name is a
// scenario, or what a file for --config may hold.
func useOther(s *shell, b block) error {
	if name, ok := b.marks[markFile]; ok {
		return s.write(name, b.text)
	}
	if _, untested := b.marks[markUntested]; untested || b.language != "yaml" {
		return nil
	}
	if strings.HasPrefix(b.text, "faults:") || strings.Contains(b.text, "\nfaults:") {
		_, err := scenario.Parse([]byte(b.text))
		return err
	}
	var cfg simulator.Config
	if err := yaml.UnmarshalStrict([]byte(b.text), &cfg); err != nil {
		return fmt.Errorf("%w (or is it a file that commands use? Then mark it with its name)", err)
	}
	cfg.ImageDir = ""
	region, err := simulator.New(cfg)
	if err != nil {
		return err
	}
	region.Close()
	return nil
}

// buildPrograms builds programs of the checkout into a folder.
func buildPrograms(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		build := exec.Command("go", "build", "-o", dir+"/", "./cmd/"+name)
		build.Dir = checkout
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go build ./cmd/%s: %v\n%s", name, err, out)
		}
	}
	return dir
}

func TestPageTestsFindWhatIsWrong(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ page, want string }{
		"right":                 {"```sh\nexport A=b\n```\nand\n```sh\necho $A; echo x-$RANDOM\n```\n```\nb\nx-…\n```\n", ""},
		"any lines":             {"```sh\nseq 9\n```\n```\n1\n…\n9\n```\n", ""},
		"other output":          {"```sh\necho a\n```\n```\nb\n```\n", "it printed\na"},
		"more output":           {"```sh\nseq 3\n```\n```\n1\n```\n", "it printed\n1\n2\n3"},
		"last command fails":    {"```sh\ntrue\nfalse\n```\n", "failed: false (status 1)"},
		"first command fails":   {"```sh\nls nope-there\ntrue\n```\n", "nope-there (status 2)"},
		"in a pipe":             {"```sh\nfalse | cat\n```\n", "failed: "},
		"fails as said":         {"<!-- fails -->\n```sh\nfalse\n```\n", ""},
		"does not fail":         {"<!-- fails -->\n```sh\ntrue\n```\n", "did not fail"},
		"ends the shell":        {"```sh\nexit 3\n```\n", "ended the shell"},
		"no shell":              {"```sh\nif\n```\n", "failed"},
		"output of something":   {"```sh\ntrue\n```\n<!-- not output -->\n```\nsomething\n```\n", ""},
		"not tested":            {"<!-- not tested: needs root -->\n```sh\nfalse\n```\n", ""},
		"file":                  {"<!-- file: a.yaml -->\n```yaml\na: 1\n```\n```sh\ncat a.yaml\n```\n```\na: 1\n```\n", ""},
		"in a list":             {"* x\n  ```sh\n  echo a\n  ```\n  ```\n  a\n  ```\n", ""},
		"mark of nothing":       {"<!-- fails -->\ntext\n", "no block follows"},
		"block without end":     {"```sh\ntrue\n", "does not end"},
		"scenario":              {"```yaml\nfaults:\n- {do: drop-answer, on: machines allocate}\n```\n", ""},
		"scenario with a fault": {"```yaml\nfaults:\n- {do: nothing-known}\n```\n", "nothing-known"},
		"configuration":         {"```yaml\nmachines: [{hostname: a}]\n```\n", ""},
		"misspelled":            {"```yaml\nmachine: [{hostname: a}]\n```\n", "machine"},
		"another language":      {"```go\nfunc\n```\n", ""},
		"MAAS refuses": {
			"```sh\nmaas-simulator\n```\n```sh\ncurl -s http://127.0.0.1:5240/MAAS/api/2.0/zones/\n```\n", "failed: curl",
		},
		"MAAS refuses as shown": {
			"```sh\nmaas-simulator --machines 1\n```\n```\nMAAS …\n  URL      http://127.0.0.1:5240/MAAS\n  API key  …\n```\n" +
				"```sh\ncurl -s http://127.0.0.1:5240/MAAS/api/2.0/zones/\n```\n```\nForbidden\n```\n", "",
		},
		"a second simulator": {
			"```sh\nmaas-simulator\n```\n```sh\ncurl -sS http://127.0.0.1:5240/MAAS/api/version/\n```\n```sh\nA=1 maas-simulator --listen 127.0.0.1:6240 \\\n" +
				"  --machines 1\n```\n```sh\ncurl -sS http://127.0.0.1:5240/MAAS/api/version/\n```\n", "(status 7)",
		},
		"simulator with a fault": {"```sh\nmaas-simulator --nope\n```\n", "unknown flag"},
	}
	programs := buildPrograms(t, "maas-simulator")
	for name, tt := range tests {
		if err := runPage(t, tt.page, programs); tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// runPage runs all of a page, and returns the first thing that is wrong.
func runPage(t *testing.T, page, programs string) error {
	t.Helper()
	blocks, err := blocksOf(page)
	if err != nil {
		return err
	}
	commands, others := commandsOf(blocks)
	shell := newShell(t, page, programs)
	defer shell.end()
	for _, b := range others {
		if err := useOther(shell, b); err != nil {
			return err
		}
	}
	for _, c := range commands {
		if _, untested := c.marks[markUntested]; untested {
			continue
		}
		if err := shell.run(c); err != nil {
			return err
		}
	}
	return nil
}
