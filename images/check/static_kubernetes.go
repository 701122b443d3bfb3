package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// kubernetesChecks are about what makes a machine a Node.
func kubernetesChecks() []static {
	return []static{
		{"programs", "the programs of the manifest are there, with their checksums", lookPrograms},
		{"versions", "kubeadm, kubelet, kubectl, containerd, runc, crictl and the CNI plugins run, and tell the manifest's versions", lookVersions},
		{"packages", "the packages of the manifest are installed, and no others", lookPackages},
		{"node-tools", "the programs that kubeadm, kubelet and kube-proxy call", lookNodeTools},
		{"containerd-config", "containerd takes its settings", lookContainerdConfig},
		{"image-store", "containerd's store has all images that kubeadm names, complete", lookContainerImages},
		{"guards", "what is for containers alone asks first whether it is in one", lookGuards},
	}
}

func lookPrograms(_ context.Context, r *root) (string, error) {
	if len(r.manifest.Programs) == 0 {
		return "", problemf(mendRecipe, "no programs in the manifest")
	}
	for _, program := range r.manifest.Programs {
		sum, size, err := r.sum(program.Path)
		if err != nil {
			return "", problemf(mendRecipe, "that %s cannot be read: %v", program.Path, err)
		}
		if sum != program.SHA256 || size != program.Size {
			return "", problemf("make the image again", "another %s than the manifest's: %d bytes, sha256 %s", program.Path, size, sum)
		}
	}
	return fmt.Sprintf("%d programs", len(r.manifest.Programs)), nil
}

func (r *root) sum(name string) (string, int64, error) {
	at, err := r.resolve(name)
	if err != nil {
		return "", 0, err
	}
	f, err := os.Open(at)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// versionCalls are how programs tell their versions, by name.
func versionCalls() map[string][]string {
	return map[string][]string{
		"kubeadm": {"version", "-o", "short"}, "kubelet": {"--version"}, "kubectl": {"version", "--client"},
		"containerd": {"--version"}, "ctr": {"--version"}, "containerd-shim-runc-v2": {"-v"}, "runc": {"--version"}, "crictl": {"--version"},
	}
}

func lookVersions(ctx context.Context, r *root) (string, error) {
	wanted := map[string]string{"kubeadm": r.manifest.KubernetesVersion, "kubelet": r.manifest.KubernetesVersion, "kubectl": r.manifest.KubernetesVersion}
	for _, program := range r.manifest.Programs {
		wanted[path.Base(program.Path)] = program.Version
	}
	for _, name := range []string{"containerd", "runc", "crictl"} {
		if wanted[name] == "" {
			return "", problemf(mendRecipe, "no %s among the manifest's programs", name)
		}
	}
	var told []string
	for _, name := range slices.Sorted(maps.Keys(versionCalls())) {
		version, there := wanted[name]
		if !there {
			continue
		}
		said, err := r.run(ctx, append([]string{name}, versionCalls()[name]...)...)
		if err != nil {
			return "", problemf(mendRecipe, "that %s does not run: %v", name, err)
		}
		if !tells(said, version) {
			return "", problemf(mendRecipe, "that %s says %q, and the manifest %s", name, lastWords(said), version)
		}
		r.versions[name] = strings.TrimPrefix(version, "v")
		told = append(told, name)
	}
	plugins, err := lookPlugins(ctx, r)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Kubernetes %s, containerd %s, runc %s, %d CNI plugins; %d programs asked",
		r.manifest.KubernetesVersion, wanted["containerd"], wanted["runc"], plugins, len(told)), nil
}

// tells says whether a program that was asked for its version told this one, as a word.
func tells(said, version string) bool {
	bare := strings.TrimPrefix(version, "v")
	return slices.ContainsFunc(strings.FieldsFunc(said, func(c rune) bool { return strings.ContainsRune(" \n\t,:;()\"", c) }), func(word string) bool {
		word, _, _ = strings.Cut(strings.TrimPrefix(word, "v"), "+")
		return word == bare
	})
}

// lookPlugins asks each for the versions of CNI it knows, as containerd would.
func lookPlugins(ctx context.Context, r *root) (int, error) {
	var number int
	for _, program := range r.manifest.Programs {
		if path.Dir(program.Path) != "/opt/cni/bin" {
			continue
		}
		said, err := r.run(ctx, "env", "CNI_COMMAND=VERSION", program.Path)
		if err != nil || !strings.Contains(said, `"supportedVersions"`) {
			return 0, problemf(mendRecipe, "that the CNI plugin %s does not answer: %v %s", program.Path, err, lastWords(said))
		}
		number++
	}
	for _, needed := range []string{"loopback", "bridge", "host-local", "portmap"} {
		if err := r.there(mendRecipe, "opt/cni/bin/"+needed); err != nil {
			return 0, err
		}
	}
	return number, nil
}

func lookPackages(ctx context.Context, r *root) (string, error) {
	said, err := r.run(ctx, "dpkg-query", "--show", "--showformat", "${db:Status-Abbrev} ${Package} ${Version} ${Architecture}\n")
	if err != nil {
		return "", err
	}
	var there, listed []string
	for line := range strings.Lines(said) {
		fields := strings.Fields(line)
		if len(fields) != 4 || fields[0] != "ii" {
			return "", problemf("make the image again", "a package that is not wholly installed: %s", line)
		}
		there = append(there, strings.Join(fields[1:], " "))
	}
	for _, pkg := range r.manifest.Packages {
		listed = append(listed, pkg.Name+" "+pkg.Version+" "+pkg.Architecture)
	}
	for _, pkg := range there {
		if !slices.Contains(listed, pkg) {
			return "", problemf(mendRecipe, "%s installed, and not in the manifest", pkg)
		}
	}
	for _, pkg := range listed {
		if !slices.Contains(there, pkg) {
			return "", problemf(mendRecipe, "%s in the manifest, and not installed", pkg)
		}
	}
	return fmt.Sprintf("%d packages", len(there)), nil
}

func lookNodeTools(_ context.Context, r *root) (string, error) {
	for _, name := range []string{"conntrack", "ethtool", "iptables", "ip6tables", "nft", "socat", "mount", "nsenter", "ip", "tc", "sysctl", "modprobe", "findmnt"} {
		if !r.hasProgram(name) {
			return "", problemf(addPackage, "no program %s", name)
		}
	}
	return "", nil
}

func lookContainerdConfig(ctx context.Context, r *root) (string, error) {
	said, err := r.run(ctx, "containerd", "config", "dump")
	if err != nil {
		return "", problemf(mendFiles+"/etc/containerd", "that containerd refuses its settings: %v", err)
	}
	if !strings.Contains(said, "SystemdCgroup = true") {
		return "", problemf(mendFiles+"/etc/containerd: SystemdCgroup = true", "that containerd leaves control groups to runc, and kubelet leaves them to systemd")
	}
	images, err := kubeadmImages(ctx, r)
	if err != nil {
		return "", err
	}
	for _, image := range images {
		if strings.Contains(image, "/pause:") && !strings.Contains(said, image) {
			return "", problemf(mendFiles+"/etc/containerd: pinned_images", "another sandbox image than kubeadm's %s", image)
		}
	}
	return "", nil
}

func kubeadmImages(ctx context.Context, r *root) ([]string, error) {
	said, err := r.run(ctx, "kubeadm", "config", "images", "list", "--kubernetes-version", r.manifest.KubernetesVersion)
	if err != nil {
		return nil, problemf(mendRecipe, "that `kubeadm config images list` does not work: %v", err)
	}
	return strings.Fields(said), nil
}

// storeScript asks the image's own containerd, started on the store in the image.
const storeScript = `
printf 'version = 3\ndisabled_plugins = ["io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime", "io.containerd.grpc.v1.cri", "io.containerd.nri.v1.nri"]\n' >/tmp/config.toml
containerd --config /tmp/config.toml >/tmp/log 2>&1 &
for try in $(seq 100); do ctr version >/dev/null 2>&1 && break; sleep 0.1; done
ctr version >/dev/null || { tail -3 /tmp/log; exit 1; }
ctr --namespace k8s.io images check
`

func lookContainerImages(ctx context.Context, r *root) (string, error) {
	needed, err := kubeadmImages(ctx, r)
	if err != nil {
		return "", err
	}
	for _, image := range r.manifest.ContainerImages {
		needed = append(needed, image.Name)
	}
	said, err := r.run(ctx, "sh", "-c", storeScript)
	if err != nil {
		return "", problemf(mendRecipe, "that containerd does not start on the image's store: %v", err)
	}
	complete := make(map[string]bool)
	for line := range strings.Lines(said) {
		if name, _, _ := strings.Cut(line, " "); strings.Contains(line, " complete ") {
			complete[name] = true
		}
	}
	for _, image := range needed {
		if !complete[image] {
			return "", problemf(mendRecipe, "no complete image %s in containerd's store", image)
		}
	}
	return fmt.Sprintf("%d images", len(complete)), nil
}

// lookGuards is about images/debian-12/root/usr/lib/container-machine: on hardware it must do nothing.
func lookGuards(_ context.Context, r *root) (string, error) {
	for _, of := range []struct{ name, guard string }{
		{"etc/systemd/system/container-machine.service", "\nConditionVirtualization=container\n"},
		{"usr/lib/systemd/system-generators/container-machine", "systemd-detect-virt --quiet --container || exit 0\n"},
		{"usr/lib/container-machine/files/usr/local/bin/kubeadm", "systemd-detect-virt --quiet --container"},
		{"usr/lib/container-machine/files/etc/cloud/cloud.cfg.d/95-container.cfg", ""},
	} {
		text, err := r.read(of.name)
		if err != nil {
			return "", problemf(mendFiles, "no file /%s, without which the sandbox cannot boot the image", of.name)
		}
		if !strings.Contains(text, of.guard) {
			return "", problemf(mendFiles, "no %q in /%s", strings.TrimSpace(of.guard), of.name)
		}
	}
	// What is laid over the file system in a container must not lie there before.
	const laid = "usr/lib/container-machine/files/"
	for _, e := range r.matching(laid + "**") {
		if e.mode.IsRegular() {
			if _, err := r.stat(strings.TrimPrefix(e.path, laid)); err == nil {
				return "", problemf(mendFiles, "/%s, which is for containers alone and is laid there by container-machine.service", strings.TrimPrefix(e.path, laid))
			}
		}
	}
	return "", nil
}
