package imagefile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func wholeManifest() Manifest {
	return Manifest{
		Name: "custom/debian-12-k8s-v1.36.3", Title: "Debian 12 <K8s & more>", Architecture: "amd64/generic", BaseImage: "ubuntu/noble", FileType: "tgz",
		File: "debian-12-k8s-v1.36.3-amd64.tar.gz", Size: 6, UnpackedSize: 7, SHA256: strings.Repeat("ab", 32), KubernetesVersion: "v1.36.3", Binaries: "source", BuildSeconds: 1.5,
		Packages:        []Package{{"systemd", "252.1", "amd64", 12}},
		Programs:        []Program{{"/usr/bin/kubelet", "v1.36.3", 5, strings.Repeat("cd", 32)}},
		ContainerImages: []ContainerImage{{"registry.k8s.io/pause:3.10", "sha256:" + strings.Repeat("ef", 32), 9}},
	}
}

func TestManifestIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "image.manifest.json")
	m := wholeManifest()
	for range 2 { // it may be written again
		if err := m.Write(path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(path)
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("got %+v, %v", got, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"title": "Debian 12 <K8s & more>"`, `"baseImage": "ubuntu/noble"`, `"installedKiB": 12`, `"unpackedSize": 7`, `"digest": "sha256:`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s is not in %s", part, text)
		}
	}
	if all, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(all) != 1 {
		t.Errorf("the folder has %v, %v", all, err)
	}
}

func TestManifestThatIsNotWhole(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*Manifest)
		says   string
	}{
		"no name":             {func(m *Manifest) { m.Name = "" }, "name is not set"},
		"no architecture":     {func(m *Manifest) { m.Architecture = "" }, "architecture is not set"},
		"no file type":        {func(m *Manifest) { m.FileType = "" }, "fileType is not set"},
		"a strange file type": {func(m *Manifest) { m.FileType = "zip" }, `"zip" is not a file type that MAAS takes (ddbz2, `},
		"no file":             {func(m *Manifest) { m.File = "" }, "file is not the name of a file"},
		"a file elsewhere":    {func(m *Manifest) { m.File = "../image.tar.gz" }, "file is not the name of a file"},
		"the folder":          {func(m *Manifest) { m.File = ".." }, "file is not the name of a file"},
		"no size":             {func(m *Manifest) { m.Size = 0 }, "size is not a number of bytes"},
		"no checksum":         {func(m *Manifest) { m.SHA256 = "" }, "sha256 is not set"},
		"a short checksum":    {func(m *Manifest) { m.SHA256 = "abcd" }, "sha256 is not 64 hexadecimal digits"},
		"several":             {func(m *Manifest) { m.Name, m.Size = "", -1 }, "name is not set, size is not a number of bytes"},
	} {
		m := wholeManifest()
		tt.change(&m)
		path := filepath.Join(t.TempDir(), "image.manifest.json")
		if err := m.Write(path); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was written: %v", name, err)
		}
	}
}

func TestFileThatIsNoManifest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "image.manifest.json")
	if _, err := Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	for text, says := range map[string]string{"": "is not a manifest", "[]": "is not a manifest", "{}": "is not a whole manifest: name is not set", `{"size":"6"}`: "is not a manifest"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestImageThatIsNotTheOneDescribed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "image.tar.gz")
	if err := os.WriteFile(path, []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := Manifest{Size: 6, SHA256: "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"}
	upper, long, other := good, good, good
	upper.SHA256 = strings.ToUpper(good.SHA256)
	long.Size = 7
	other.SHA256 = strings.Repeat("0", 64)
	for name, tt := range map[string]struct {
		m    Manifest
		says string
	}{
		"it is":                 {good, ""},
		"in capitals":           {upper, ""},
		"another size":          {long, "image.tar.gz has 6 bytes, and its manifest says 7: the two are not of one build, or the file is damaged; build or copy both again"},
		"another checksum":      {other, "image.tar.gz has the checksum 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03, and its manifest says 00000"},
		"nothing to hold it to": {Manifest{}, "has no size or no checksum"},
	} {
		var read int64
		err := tt.m.Check(context.Background(), path, func(done, total int64) { read = done * 100 / total })
		if tt.says == "" && (err != nil || read != 100) || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: %v, read %d%%", name, err, read)
		}
	}
	if err := good.Check(context.Background(), path+".gone", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if err := good.Check(context.Background(), filepath.Dir(path), nil); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("got %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := good.Check(ctx, path, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestNamesOfImages(t *testing.T) {
	t.Parallel()
	for image, want := range map[string]struct{ manifest, fileType string }{
		"debian-12-k8s-v1.36.3-amd64.tar.gz":      {"debian-12-k8s-v1.36.3-amd64.manifest.json", "tgz"},
		"_build/images/debian-12-k8s-v1.36.3.tgz": {"_build/images/debian-12-k8s-v1.36.3.manifest.json", "tgz"},
		"a.TAR.GZ":                {"a.manifest.json", "tgz"},
		"a.tar.xz":                {"a.manifest.json", "txz"},
		"a.tbz":                   {"a.manifest.json", "tbz"},
		"a.tar.bz2":               {"a.manifest.json", "tbz"},
		"custom-ubuntu-lvm.dd.gz": {"custom-ubuntu-lvm.manifest.json", "ddgz"},
		"a.img.xz":                {"a.manifest.json", "ddxz"},
		"a.raw":                   {"a.manifest.json", "ddraw"},
		"a.dd.tar.gz":             {"a.manifest.json", "ddtgz"},
		"a.dd.tar":                {"a.manifest.json", "ddtar"},
		"a.qcow2":                 {"a.manifest.json", ""},
		"a.tar":                   {"a.manifest.json", ""},
		"a.gz":                    {"a.manifest.json", ""},
		"debian-12.5":             {"debian-12.5.manifest.json", ""},
		"sandbox.d/noble":         {"sandbox.d/noble.manifest.json", ""},
	} {
		if got := ManifestPath(image); got != want.manifest {
			t.Errorf("%s: manifest %s", image, got)
		}
		got, err := GuessFileType(image)
		if got != want.fileType || (err != nil) != (image == "a.qcow2") {
			t.Errorf("%s: %s, %v", image, got, err)
		}
		if got != "" && inMAAS[got] == "" {
			t.Errorf("%s: MAAS does not know %s", image, got)
		}
	}
	if _, err := GuessFileType("a.qcow2"); !strings.Contains(err.Error(), "qemu-img convert") {
		t.Errorf("got %v", err)
	}
}

func TestNamesThatMAASTakes(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("é", longestName)
	for name, want := range map[string]bool{
		"custom/debian-12-k8s-v1.36.3": true,
		"debian-12":                    true,
		"centos/centos7-x":             true,
		"custom/" + longest:            true,
		longest:                        true,
		"custom/" + longest + "x":      false,
		longest + "x":                  false,
		"custom/":                      false,
		"/debian-12":                   false,
		"custom/a/b":                   false,
		"custom/a/":                    false,
		"custom//a":                    false,
		"custom/a b":                   false,
		" custom/a":                    false,
		"custom/a\n":                   false,
		"custom/\x1b[2J":               false,
	} {
		m := wholeManifest()
		m.Name = name
		if err := m.check(); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}
