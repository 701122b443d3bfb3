package recipe

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// fakeSite serves files as a project's download site does, and remembers what it was asked for.
type fakeSite struct {
	*httptest.Server
	files map[string]string // content by path
	mu    sync.Mutex
	asked []string
}

func newFakeSite(t *testing.T, files map[string]string) *fakeSite {
	t.Helper()
	f := &fakeSite{files: files}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.asked = append(f.asked, r.URL.Path)
		f.mu.Unlock()
		content, found := f.files[r.URL.Path]
		if !found {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, content)
	}))
	t.Cleanup(f.Close)
	return f
}

// offer adds a file with its checksum as the given format writes it, from the sum and the file's name.
func (f *fakeSite) offer(file, content, sums, format string) {
	f.files[file] = content
	f.files[sums] = strings.NewReplacer("SUM", sumOf(content), "NAME", path.Base(file)).Replace(format)
}

func archiveOf(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	w := tar.NewWriter(compressed)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []io.Closer{w, compressed} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// kubeadmOf is a program that names images as kubeadm does.
func kubeadmOf(images ...string) string {
	return "#!/bin/sh\n[ \"$1 $2 $3 $4\" = 'config images list --kubernetes-version' ] || exit 1\necho '" + strings.Join(images, "\n") + "'\n"
}

// upstream is a site that offers everything that a version of Kubernetes needs, at the pinned versions of the other programs.
func upstream(t *testing.T, p *build.Project, version, kubeadm string) *fakeSite {
	t.Helper()
	site := newFakeSite(t, map[string]string{})
	arch := runtime.GOARCH
	for name, content := range map[string]string{"kubelet": "the kubelet", "kubectl": "the kubectl", "kubeadm": kubeadm} {
		file := "/k8s/" + version + "/bin/linux/" + arch + "/" + name
		site.offer(file, content, file+".sha256", "SUM")
	}
	on := func(repository, version, file string) string {
		return "/" + repository + "/releases/download/" + version + "/" + file
	}
	containerd := p.Version("containerd", "github.com/containerd/containerd/v2")
	file := on("containerd/containerd", containerd, "containerd-static-"+containerd[1:]+"-linux-"+arch+".tar.gz")
	site.offer(file, archiveOf(t, map[string]string{
		"bin/containerd": "the containerd", "bin/containerd-shim-runc-v2": "the shim", "bin/ctr": "the ctr", "bin/containerd-stress": "unwanted",
	}), file+".sha256sum", "SUM  NAME\n")
	runc := p.Version("runc", "github.com/opencontainers/runc")
	site.offer(on("opencontainers/runc", runc, "runc."+arch), "the runc", on("opencontainers/runc", runc, "runc.sha256sum"),
		"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n"+sumOf("other")+"  runc.other\nSUM *NAME\n-----BEGIN PGP SIGNATURE-----\n\niQJD\n")
	cni := p.Version("cni", "github.com/containernetworking/plugins")
	file = on("containernetworking/plugins", cni, "cni-plugins-linux-"+arch+"-"+cni+".tgz")
	site.offer(file, archiveOf(t, map[string]string{
		"./bridge": "the bridge", "./host-local": "the host-local", "./loopback": "the loopback", "./portmap": "the portmap", "./ptp": "the ptp",
		"./LICENSE": "unwanted",
	}), file+".sha256", "SUM  NAME\n")
	crictl := p.Version("crictl", "sigs.k8s.io/cri-tools")
	file = on("kubernetes-sigs/cri-tools", crictl, "crictl-"+crictl+"-linux-"+arch+".tar.gz")
	site.offer(file, archiveOf(t, map[string]string{"crictl": "the crictl"}), file+".sha256", "SUM\n")
	return site
}

// fakeRegistry serves an image for this platform and one for another under each name, without the names' own registry.
func fakeRegistry(t *testing.T, images ...string) (address string, stop func()) {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	address = strings.TrimPrefix(server.URL, "http://")
	for _, image := range images {
		_, rest, _ := strings.Cut(image, "/")
		tag, err := name.NewTag(address + "/" + rest)
		if err != nil {
			t.Fatal(err)
		}
		var index v1.ImageIndex = empty.Index
		for _, arch := range []string{"other", runtime.GOARCH} {
			platform := v1.Platform{OS: "linux", Architecture: arch}
			index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: imageFor(t, arch), Descriptor: v1.Descriptor{Platform: &platform}})
		}
		if err := remote.WriteIndex(tag, index); err != nil {
			t.Fatal(err)
		}
	}
	return address, server.Close
}

func imageFor(t *testing.T, arch string) v1.Image {
	t.Helper()
	image, err := random.Image(1000, 2)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.Architecture, config.OS = arch, "linux"
	if image, err = mutate.ConfigFile(image, config); err != nil {
		t.Fatal(err)
	}
	return image
}

// buildReleased runs the steps that take released binaries, which need no root, in an output folder.
func buildReleased(ctx context.Context, out, version string, sites func(*build.Project) Sites) (*Recipe, error) {
	var made *Recipe
	list := func(p *build.Project) ([]build.Step, error) {
		var err error
		if made, err = NewReleased(p, version, sites(p)); err != nil {
			return nil, err
		}
		return made.releasedSteps(), nil
	}
	err := build.Run(ctx, build.Options{Repo: "../..", Out: out}, list)
	return made, err
}

func TestReleasedBinariesBecomeTheSameLayoutAndAreKept(t *testing.T) {
	t.Parallel()
	out, version := t.TempDir(), "v1.99.7"
	images := []string{"registry.k8s.io/kube-apiserver:" + version, "registry.k8s.io/coredns/coredns:v1.99.1", "registry.k8s.io/pause:3.99"}
	address, stopRegistry := fakeRegistry(t, images...)
	var site *fakeSite
	sites := func(p *build.Project) Sites {
		if site == nil {
			site = upstream(t, p, version, kubeadmOf(images...))
		}
		return Sites{Kubernetes: site.URL + "/k8s", GitHub: site.URL, Registry: address}
	}
	made, err := buildReleased(t.Context(), out, version, sites)
	if err != nil {
		t.Fatal(err)
	}
	checkReleased(t, made, images)
	if made.binaries() != BinariesRelease || !strings.HasSuffix(made.File(), "-release.tar.gz") {
		t.Errorf("binaries %q, file %s", made.binaries(), made.File())
	}

	// What was made is lost, and there is no network any more.
	site.Close()
	stopRegistry()
	for _, dir := range []string{".stamps", "kubernetes", "node", "images"} {
		if err := os.RemoveAll(filepath.Join(out, dir)); err != nil {
			t.Fatal(err)
		}
	}
	if made, err = buildReleased(t.Context(), out, version, sites); err != nil {
		t.Fatalf("again, from what was kept: %v", err)
	}
	checkReleased(t, made, images)
}

// checkReleased looks at the programs as the recipe puts them on a node, and at the archive that the store is filled from.
func checkReleased(t *testing.T, r *Recipe, images []string) {
	t.Helper()
	programs, err := r.nodePrograms()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, program := range programs {
		content, err := os.ReadFile(program.from)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(program.from); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v, %v", program.from, info.Mode(), err)
		}
		words := strings.TrimPrefix(string(content), "the ")
		if path.Base(program.to) == "kubeadm" && strings.HasPrefix(words, "#!") {
			words = "kubeadm"
		}
		got = append(got, program.to+"="+words)
	}
	slices.Sort(got)
	want := []string{
		"opt/cni/bin/bridge=bridge", "opt/cni/bin/host-local=host-local", "opt/cni/bin/loopback=loopback", "opt/cni/bin/portmap=portmap",
		"opt/cni/bin/ptp=ptp", "usr/bin/kubeadm=kubeadm", "usr/bin/kubectl=kubectl", "usr/bin/kubelet=kubelet", "usr/local/bin/containerd-shim-runc-v2=shim",
		"usr/local/bin/containerd=containerd", "usr/local/bin/crictl=crictl", "usr/local/bin/ctr=ctr", "usr/local/bin/runc=runc",
	}
	if !slices.Equal(got, want) {
		t.Errorf("programs\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	listed, err := os.ReadFile(r.parts("container-images.txt"))
	if err != nil || string(listed) != strings.Join(images, "\n")+"\n" {
		t.Errorf("listed images %q, %v", listed, err)
	}
	for _, image := range images {
		tag, err := name.NewTag(image)
		if err != nil {
			t.Fatal(err)
		}
		packed, err := tarball.ImageFromPath(r.parts("container-images.tar"), &tag)
		if err != nil {
			t.Errorf("%s: %v", image, err)
			continue
		}
		if config, err := packed.ConfigFile(); err != nil || config.Architecture != runtime.GOARCH {
			t.Errorf("%s is for %+v, %v", image, config, err)
		}
	}
}

func TestAnImageThatTheRegistryDoesNotHaveIsNamed(t *testing.T) {
	t.Parallel()
	address, _ := fakeRegistry(t)
	missing := "registry.k8s.io/etcd:9.9.9"
	_, err := buildReleased(t.Context(), t.TempDir(), "v1.99.7", func(p *build.Project) Sites {
		site := upstream(t, p, "v1.99.7", kubeadmOf(missing))
		return Sites{Kubernetes: site.URL + "/k8s", GitHub: site.URL, Registry: address}
	})
	if want := "pulling " + address + "/etcd:9.9.9"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q in it", err, want)
	}
}

func TestADamagedImageInTheCacheIsNotUsed(t *testing.T) {
	t.Parallel()
	out, version := t.TempDir(), "v1.99.7"
	images := []string{"registry.k8s.io/pause:3.99"}
	address, _ := fakeRegistry(t, images...)
	sites := func(p *build.Project) Sites {
		site := upstream(t, p, version, kubeadmOf(images...))
		return Sites{Kubernetes: site.URL + "/k8s", GitHub: site.URL, Registry: address}
	}
	if _, err := buildReleased(t.Context(), out, version, sites); err != nil {
		t.Fatal(err)
	}
	blobs, err := filepath.Glob(filepath.Join(out, "cache/release/images/blobs/sha256/*"))
	if err != nil || len(blobs) == 0 {
		t.Fatalf("%d blobs, %v", len(blobs), err)
	}
	for _, blob := range blobs {
		content, err := os.ReadFile(blob)
		if err != nil {
			t.Fatal(err)
		}
		if content[0] == '{' {
			continue
		}
		content[len(content)/2] ^= 1
		if err := os.WriteFile(blob, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(out, "images")); err != nil {
		t.Fatal(err)
	}
	want := "registry.k8s.io/pause:3.99 is damaged: remove the folder"
	if _, err = buildReleased(t.Context(), out, version, sites); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q in it", err, want)
	}
}

func TestCompiledAndReleasedBinariesDoNotMeet(t *testing.T) {
	t.Parallel()
	var compiled, released []build.Step
	err := build.Run(t.Context(), build.Options{Repo: "../..", Out: t.TempDir()}, func(p *build.Project) ([]build.Step, error) {
		for _, version := range []string{"", "v1.35.4"} {
			a, err := New(p, version)
			if err != nil {
				return nil, err
			}
			b, err := NewReleased(p, version, UpstreamSites())
			if err != nil {
				return nil, err
			}
			compiled, released = append(compiled, a.Steps()...), append(released, b.Steps()...)
			for _, recipe := range []*Recipe{a, b} {
				checkNeeds(t, recipe.Steps())
			}
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	makers := make(map[string]string)
	for _, step := range compiled {
		for _, output := range step.Outputs {
			makers[output] = step.Name
		}
	}
	for _, step := range released {
		for _, output := range step.Outputs {
			if maker := makers[output]; maker != "" && maker != step.Name {
				t.Errorf("%s is made by %s and by %s", output, maker, step.Name)
			}
		}
		common := step.Name == baseStep || step.Name == packagesStep
		if !common && slices.ContainsFunc(compiled, func(s build.Step) bool { return s.Name == step.Name }) {
			t.Errorf("both recipes have a step %s, and it is not the same", step.Name)
		}
	}
}

func checkNeeds(t *testing.T, steps []build.Step) {
	t.Helper()
	seen := make(map[string]bool)
	for _, step := range steps {
		for _, need := range step.Needs {
			if !seen[need] {
				t.Errorf("step %s needs %s, which does not come before it", step.Name, need)
			}
		}
		seen[step.Name] = true
	}
}

func TestReleasedVersionsAreWhole(t *testing.T) {
	t.Parallel()
	err := build.Run(t.Context(), build.Options{Repo: "../..", Out: t.TempDir()}, func(p *build.Project) ([]build.Step, error) {
		for version, want := range map[string]string{
			"": DefaultVersion(p), "1.34.2": "v1.34.2", "v1.37.0-rc.1": "v1.37.0-rc.1", "v1.36": "", "latest": "", "v1.36.3/../x": "",
		} {
			r, err := NewReleased(p, version, UpstreamSites())
			if got := ""; err == nil {
				if got = r.version; got != want {
					t.Errorf("%q: %q, want %q", version, got, want)
				}
			} else if want != "" {
				t.Errorf("%q: %v", version, err)
			}
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func sumOf(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }
