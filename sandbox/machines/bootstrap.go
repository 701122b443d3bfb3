package machines

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/images/container"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
)

// CloudInitLog is where the output of cloud-init lies, with that of kubeadm, as long as the machine has its disk. dir holds the
// machine's disk.
func CloudInitLog(dir string) string { return container.Disk(dir, "/var/log/cloud-init-output.log") }

// BootstrapFailure tells why cloud-init did not carry out a machine's bootstrap data, in at most five lines, the most telling ones
// first; nothing as long as it has not ended, or when all is well. dir holds the machine's disk, which is read from outside.
func BootstrapFailure(dir string) []string {
	result, err := os.ReadFile(container.Disk(dir, "/var/lib/cloud/data/result.json"))
	if err != nil {
		return nil
	}
	failed := failedModules(result)
	if len(failed) == 0 {
		return nil
	}
	// It may be large: kubeadm's last words are at its end.
	const window = 64 << 10
	output, err := host.End(CloudInitLog(dir), window)
	if words := tellingLines(output); err == nil && len(words) > 0 {
		return words
	}
	return failed
}

// failedModules reads from cloud-init's result.json what went wrong. cloud-init 22: {"v1": {"errors": ["…"]}}.
func failedModules(result []byte) []string {
	var content struct {
		V1 struct {
			Errors []string `json:"errors"`
		} `json:"v1"`
	}
	// What cannot be read yet is being written.
	if json.Unmarshal(result, &content) != nil {
		return nil
	}
	return content.V1.Errors
}

var (
	colours = regexp.MustCompile("\x1b\\[[0-9;]*m")
	// How kubeadm words what a check found, and why it ended.
	checkFailed = regexp.MustCompile(`^\[ERROR [A-Za-z0-9-]+\]: `)
	fatal       = regexp.MustCompile(`^(error: |error execution phase |fatal error|panic: |timed out)`)
	// cloud-init's own words at the end, which say no more than that something failed.
	ownWords = regexp.MustCompile(`^(\d{4}-\d\d-\d\d .*\[WARNING\]|Cloud-init v\.|To see the stack trace)`)
)

// tellingLines picks from cloud-init's output what tells why it failed: what kubeadm says of its checks and its end, else the last
// lines of all.
func tellingLines(output []byte) []string {
	const most, longest = 5, 220
	var checks, ends, last []string
	for line := range strings.Lines(string(colours.ReplaceAll(output, nil))) {
		line = strings.TrimSpace(line)
		if len(line) > longest {
			line = strings.ToValidUTF8(line[:longest], "") + "…"
		}
		switch {
		case line == "" || ownWords.MatchString(line):
			continue
		case checkFailed.MatchString(line):
			checks = append(checks, line)
		case fatal.MatchString(line):
			ends = append(ends, line)
		}
		if last = append(last, line); len(last) > most {
			last = last[1:]
		}
	}
	telling := slices.Concat(checks, ends)
	if len(telling) == 0 {
		return last
	}
	return telling[:min(len(telling), most)]
}
