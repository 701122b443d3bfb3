package e2e

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// disk is what the sandbox says of a machine's disk.
type disk struct{ SystemID, Hostname, Image, SHA256 string }

func (s *sandbox) disks() []disk {
	s.t.Helper()
	var status struct{ Disks []disk }
	s.ask("GET", "/status", &status)
	return status.Disks
}

// checkImage follows the machines' image from the file to what runs: what `make image` said of the file, the file itself, MAAS's boot
// resource, what the machines' disks lie on, and the programs in them.
func checkImage(t *testing.T, s *sandbox) {
	t.Helper()
	disks := s.disks()
	if owned := s.owned(); len(disks) == 0 || len(disks) != len(owned) {
		t.Fatalf("%d machines are owned, and %d have disks", len(owned), len(disks))
	}
	file, manifest := builtImage(t, disks[0].Image)
	if err := manifest.Check(t.Context(), file, nil); err != nil {
		t.Error(err)
	}
	if _, content := uploaded(t, s.maas(), manifest.Name); content.SHA256 != manifest.SHA256 || !content.Complete {
		t.Errorf("the boot resource has %+v, the manifest %s", content, manifest.SHA256)
	}
	root, err := filepath.Abs(filepath.Join(root, "_build/roots", manifest.SHA256))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range disks {
		if d.Image != manifest.Name || d.SHA256 != manifest.SHA256 {
			t.Errorf("%s has a disk of %s with %s", d.Hostname, d.Image, d.SHA256)
		}
		mounts := s.inside(d.Hostname, "cat", "/proc/self/mounts")
		if !strings.Contains(mounts, " / overlay ") || !strings.Contains(mounts, "lowerdir="+root+",") {
			t.Errorf("the disk of %s does not lie on %s: %s", d.Hostname, root, mounts)
		}
		checkPrograms(t, s, d.Hostname, manifest)
	}
}

// checkPrograms compares the programs that a machine has with those that the manifest lists.
func checkPrograms(t *testing.T, s *sandbox, machine string, manifest imagefile.Manifest) {
	t.Helper()
	argv := []string{"sha256sum", "--"}
	want := map[string]string{}
	for _, program := range manifest.Programs {
		argv, want[program.Path] = append(argv, program.Path), program.SHA256
	}
	if want["/usr/local/bin/containerd"] == "" {
		t.Errorf("the manifest lists %v", want)
	}
	lines := bufio.NewScanner(strings.NewReader(s.inside(machine, argv...)))
	for lines.Scan() {
		sum, path, _ := strings.Cut(lines.Text(), "  ")
		if sum != want[path] {
			t.Errorf("%s of %s has %s, the manifest %s", path, machine, sum, want[path])
		}
		delete(want, path)
	}
	if len(want) > 0 {
		t.Errorf("%s has not %v", machine, want)
	}
}

// builtImage finds the image that is called so in MAAS among those that were built.
func builtImage(t *testing.T, name string) (string, imagefile.Manifest) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "_build/images/*.manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		m, err := imagefile.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if m.Name == name {
			return filepath.Join(filepath.Dir(path), m.File), m
		}
	}
	t.Fatalf("no image %s was built, only %q", name, paths)
	return "", imagefile.Manifest{}
}

// uploaded is the boot resource of a name, and its content.
func uploaded(t *testing.T, client *maas.Client, name string) (*maas.BootResource, maas.BootResourceFile) {
	t.Helper()
	all, err := client.UploadedBootResources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range all {
		if "custom/"+each.Name != name {
			continue
		}
		resource, err := client.BootResource(t.Context(), each.ID)
		if err != nil {
			t.Fatal(err)
		}
		content, _ := resource.Content()
		return resource, content
	}
	t.Fatalf("MAAS has no image %s: %+v", name, all)
	return nil, maas.BootResourceFile{}
}

// checkBroken deploys what is no image of a machine.
func checkBroken(t *testing.T, s *sandbox) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "broken.tar.gz")
	if err := os.WriteFile(file, bytes.Repeat([]byte("no archive "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	deployOther(t, s, "custom/broken", file, func(machine simulator.MachineSnapshot, now *maas.Machine) string {
		const why = "image custom/broken: the image is no root file system in a .tar.gz"
		if now.Status != maas.StatusFailedDeployment || !strings.Contains(now.ErrorDescription, why) {
			return fmt.Sprintf("%s is %s: %q", machine.Hostname, now.StatusName, now.ErrorDescription)
		}
		return ""
	})
}

// checkOther boots another image than the one that the sandbox brought.
func checkOther(t *testing.T, s *sandbox) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "other.tar.gz")
	packOther(t, file)
	deployOther(t, s, "custom/other", file, func(machine simulator.MachineSnapshot, _ *maas.Machine) string {
		console, err := os.ReadFile(filepath.Join(root, state, "machines", machine.Hostname+".console.log"))
		if err != nil {
			return err.Error()
		}
		if !bytes.Contains(console, []byte("the init of another image runs")) {
			return fmt.Sprintf("its console says %q", console)
		}
		_, content := uploaded(t, s.maas(), "custom/other")
		for _, d := range s.disks() {
			if d.SystemID == machine.SystemID && d.Image == "custom/other" && d.SHA256 == content.SHA256 {
				return ""
			}
		}
		return fmt.Sprintf("the disks are %+v, and the image is %s", s.disks(), content.SHA256)
	})
}

// packOther packs a root file system that holds nothing but an init system.
func packOther(t *testing.T, path string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "init")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./testdata/init")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building an init: %v: %s", err, out)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(out)
	w := tar.NewWriter(z)
	err = w.WriteHeader(&tar.Header{Name: "./sbin/init", Mode: 0o755, Typeflag: tar.TypeReg, Size: int64(len(content))})
	if err == nil {
		_, err = w.Write(content)
	}
	if err := errors.Join(err, w.Close(), z.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
}

// deployOther uploads a file with our own program, deploys a machine with it, waits until nothing is wrong, and leaves no trace.
func deployOther(t *testing.T, s *sandbox, name, file string, wrong func(simulator.MachineSnapshot, *maas.Machine) string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "_build/bin/capmaas"), "image", "upload", file, "--name", name)
	cmd.Env = append(os.Environ(), s.environment()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("capmaas image upload: %v: %s", err, out)
	}
	client := s.maas()
	machine := s.free()
	if _, err := client.Deploy(t.Context(), machine.SystemID, maas.DeployParams{DistroSeries: name, UserData: []byte("#!/bin/true\n")}); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, machine.Hostname+" was deployed with "+name, func() string {
		now, err := client.Machine(t.Context(), machine.SystemID)
		if err != nil {
			return err.Error()
		}
		return wrong(machine, now)
	})
	if _, err := client.Release(t.Context(), machine.SystemID, maas.ReleaseParams{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, machine.Hostname+" is free again", func() string {
		now, err := client.Machine(t.Context(), machine.SystemID)
		if err != nil || now.Status != maas.StatusReady {
			return fmt.Sprintf("it is %v, %v", now, err)
		}
		return ""
	})
	resource, _ := uploaded(t, client, name)
	if err := client.DeleteBootResource(t.Context(), resource.ID); err != nil {
		t.Fatal(err)
	}
}
