package check

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
)

// bootReport is the program that tells what became of a boot; it is the same in a container and in a machine.
//
//go:embed boot-report.sh
var bootReport string

// instance is the name of the machines that are booted here.
const instance = "image-check"

// boot is what is known of one.
type boot struct {
	manifest imagefile.Manifest
	// facts are what bootReport said.
	facts map[string][]string
	// console is what the machine said there.
	console string
	log     string
}

// bootCheck judges a boot.
type bootCheck struct {
	name, what string
	judge      func(b boot) (detail string, err error)
}

func bootNames(checks []bootCheck) []string {
	var names []string
	for _, check := range checks {
		names = append(names, check.name)
	}
	return names
}

// readFacts reads what bootReport said.
func readFacts(said string) map[string][]string {
	facts := make(map[string][]string)
	for line := range strings.Lines(said) {
		if key, value, found := strings.Cut(strings.TrimRight(line, "\r\n"), " "); found && strings.HasPrefix(key, "@") {
			facts[key[1:]] = append(facts[key[1:]], strings.TrimSpace(value))
		}
	}
	return facts
}

// fact is the only one of its kind.
func (b boot) fact(key string) string { return strings.Join(b.facts[key], " | ") }

// judgeBoot does the wanted ones of a part's checks.
func (s *session) judgeBoot(part string, checks []bootCheck, b boot, took time.Duration) {
	for _, check := range checks {
		if !s.wanted(part, check.name) {
			continue
		}
		detail, err := check.judge(b)
		s.add(result(part, check.name, check.what, detail, took, err))
	}
}

// everyBoot are checks of any boot. prefix keeps the names of parts apart.
func everyBoot(prefix string) []bootCheck {
	return []bootCheck{
		{prefix + "-systemd", "systemd is running, and no unit failed", judgeSystemd},
		{prefix + "-cloud-init", "cloud-init is done, without errors, with data from NoCloud", judgeCloudInit},
		{prefix + "-user-data", "what the user data asked for was done: a file, the host name", judgeUserData},
		{prefix + "-identity", "it made its machine ID and its SSH keys", judgeIdentity},
		{prefix + "-services", "containerd and sshd run, kubelet waits for kubeadm", judgeServices},
		{prefix + "-images", "kubelet's way to containerd shows the preloaded images", judgeImages},
	}
}

func judgeSystemd(b boot) (string, error) {
	look := "see " + b.log
	if failed := b.facts["failed"]; len(failed) > 0 {
		return "", problemf(look, "failed units: %s", strings.Join(failed, "; "))
	}
	if state := b.fact("state"); state != "running" {
		return "", problemf(look, "the state %q, with these jobs still to do: %s", state, b.fact("jobs"))
	}
	return b.fact("state"), nil
}

func judgeCloudInit(b boot) (string, error) {
	look := "see " + b.log
	status, source := b.fact("cloud-init"), b.fact("datasource")
	if !strings.Contains(status, "status: done") {
		return "", problemf(look, "%s", status)
	}
	if errors := b.fact("cloud-errors"); errors != "" {
		return "", problemf(look, "cloud-init's errors: %s", errors)
	}
	if !strings.HasPrefix(source, "DataSourceNoCloud") {
		return "", problemf(look, "the data source %q", source)
	}
	return source, nil
}

func judgeUserData(b boot) (string, error) {
	if got := b.fact("written"); got != writtenText {
		return "", problemf("see "+b.log, "%q where the user data asked for %q", got, writtenText)
	}
	if got := b.fact("hostname"); got != instance {
		return "", problemf("see "+b.log, "the host name %q where the metadata says %q", got, instance)
	}
	return "", nil
}

func judgeIdentity(b boot) (string, error) {
	const digits = "32"
	if got := b.fact("machine-id"); got != digits {
		return "", problemf("see "+b.log, "a machine ID of %s characters", got)
	}
	if !slices.Contains(b.facts["host-key"], "ssh_host_ed25519_key") {
		return "", problemf("see ssh_genkeytypes in /etc/cloud/cloud.cfg.d", "these SSH keys: %s", b.fact("host-key"))
	}
	return b.fact("host-key"), nil
}

func judgeServices(b boot) (string, error) {
	for _, want := range []string{"containerd active", "ssh active", "kubelet inactive"} {
		if !slices.Contains(b.facts["unit"], want) {
			return "", problemf("see "+b.log, "%s", b.fact("unit"))
		}
	}
	return "", nil
}

func judgeImages(b boot) (string, error) {
	there := make(map[string]bool)
	for _, line := range b.facts["image"] {
		if fields := strings.Fields(line); len(fields) >= 2 {
			there[fields[0]+":"+fields[1]] = true
		}
	}
	for _, image := range b.manifest.ContainerImages {
		if !there[image.Name] {
			return "", problemf("see "+b.log, "no image %s in what crictl shows: %s", image.Name, b.fact("image"))
		}
	}
	return "crictl shows " + plural(len(there), "image"), nil
}
