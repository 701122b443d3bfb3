package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

const (
	adminKey = "consumerADMIN00001:tokenADMIN00000001:secretADMINsecretADMINsecret0001"
	userKey  = "consumerUSER000001:tokenUSER000000001:secretUSERsecretUSERsecretU0001"
	content  = "an image\n"
)

// shell runs the program in a folder, against a simulated MAAS.
type shell struct {
	t      *testing.T
	dir    string
	env    map[string]string
	region *simulator.Region
	ctx    context.Context
}

func newShell(t *testing.T) *shell {
	t.Helper()
	region, err := simulator.New(simulator.Config{
		Machines: []simulator.Machine{{Hostname: "m1"}},
		Users:    []simulator.User{{Name: "admin", APIKey: adminKey, Admin: true}, {Name: "user", APIKey: userKey}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(region.Close)
	server := httptest.NewServer(region.Handler())
	t.Cleanup(server.Close)
	return &shell{t: t, dir: t.TempDir(), region: region, ctx: context.Background(),
		env: map[string]string{"MAAS_ENDPOINT": server.URL + "/MAAS", "MAAS_API_KEY": adminKey}}
}

// file puts a file into the folder, and returns its path.
func (s *shell) file(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// host is where MAAS is.
func (s *shell) host() string {
	return strings.TrimSuffix(strings.TrimPrefix(s.env["MAAS_ENDPOINT"], "http://"), "/MAAS")
}

// run returns what the program printed as its result, what it printed on the way, and its error.
func (s *shell) run(args ...string) (out, log string, err error) {
	s.t.Helper()
	var result, progress bytes.Buffer
	command := newCommand(program{
		getenv: func(name string) string { return s.env[name] },
		out:    &result, log: &progress, width: func() int { return 0 },
	})
	command.SetArgs(args)
	err = command.ExecuteContext(s.ctx)
	text := result.String() + progress.String()
	if err != nil {
		text += err.Error()
	}
	for _, key := range []string{adminKey, userKey} {
		for _, part := range strings.Split(key, ":") {
			if strings.Contains(text, part) {
				s.t.Errorf("%v: a part of the API key is in %q", args, text)
			}
		}
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		s.t.Errorf("%v: the error has several lines: %q", args, err)
	}
	return result.String(), progress.String(), err
}

// fails runs the program, which has to fail with the texts in its error.
func (s *shell) fails(texts []string, args ...string) {
	s.t.Helper()
	out, _, err := s.run(args...)
	if err == nil {
		s.t.Errorf("%v: succeeded with %q", args, out)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			s.t.Errorf("%v: %q is not in: %v", args, text, err)
		}
	}
}

func manifestOf(t *testing.T, image string) imagefile.Manifest {
	t.Helper()
	sum := sha256.Sum256([]byte(content))
	m := imagefile.Manifest{Name: "custom/debian-12", Title: "Debian 12", Architecture: "amd64/generic", FileType: "tgz", BaseImage: "ubuntu/noble",
		File: filepath.Base(image), Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
	if err := m.Write(imagefile.ManifestPath(image)); err != nil {
		t.Fatal(err)
	}
	return m
}

// MAAS with TLS sends the plain port's users to the other, and its certificate is often its owner's own.
func TestMAASWithTLS(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	ca := filepath.Join(s.dir, "ca.pem")
	region, err := simulator.New(simulator.Config{
		TLS:   simulator.TLS{Listen: "127.0.0.1:0", CAOut: ca},
		Users: []simulator.User{{Name: "admin", APIKey: adminKey, Admin: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	server, err := region.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() }) // it has ended with the test's context
	s.env["MAAS_ENDPOINT"] = server.URL
	s.fails([]string{"set the endpoint to " + server.TLSURL}, "image", "list")
	s.env["MAAS_ENDPOINT"] = server.TLSURL
	s.fails([]string{"signed by an authority that is not trusted", "CA file"}, "image", "list")
	s.env["MAAS_CA_FILE"] = ca
	if out, _, err := s.run("image", "list"); err != nil {
		t.Errorf("%q, %v", out, err)
	}
	image := s.file("image.tar.gz", content)
	manifestOf(t, image)
	if _, _, err := s.run("image", "upload", image); err != nil {
		t.Error(err)
	}
}

func TestImageWithItsManifest(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	image := s.file("debian-12-amd64.tar.gz", content)
	m := manifestOf(t, image)

	out, log, err := s.run("image", "list")
	if err != nil || out != "" || !strings.Contains(log, "capmaas image upload FILE") {
		t.Errorf("got %q, %q, %v", out, log, err)
	}
	out, log, err = s.run("image", "upload", image)
	if err != nil || out != "MAAS at "+s.host()+" has custom/debian-12, complete (boot resource 5, sha256 "+m.SHA256+").\n" {
		t.Errorf("got %q, %v", out, err)
	}
	for _, line := range []string{"Checking debian-12-amd64.tar.gz: 100%  9 B of 9 B\n", "Uploading custom/debian-12: 100%  9 B of 9 B\n"} {
		if !strings.Contains(log, line) {
			t.Errorf("%q is not in %q", line, log)
		}
	}
	out, log, err = s.run("image", "upload", image)
	if err != nil || !strings.HasPrefix(out, "MAAS at "+s.host()+" has custom/debian-12 already, and nothing was sent (") || strings.Contains(log, "Uploading") {
		t.Errorf("got %q, %q, %v", out, log, err)
	}
	out, _, err = s.run("image", "list")
	want := "NAME               ARCHITECTURE    TITLE       SIZE   COMPLETE   SHA256\n" +
		"custom/debian-12   amd64/generic   Debian 12   9 B    yes        " + m.SHA256 + "\n"
	if err != nil || out != want {
		t.Errorf("got %q, %v", out, err)
	}
	// The same again with other words.
	if out, _, err = s.run("image", "upload", image, "--name", "custom/other", "--title", "Other"); err != nil || !strings.HasPrefix(out, "MAAS at "+s.host()+" has custom/other, complete") {
		t.Errorf("got %q, %v", out, err)
	}
	if out, _, err = s.run("image", "list"); err != nil || !strings.Contains(out, "custom/other       amd64/generic   Other ") {
		t.Errorf("got %q, %v", out, err)
	}
	s.file("debian-12-amd64.tar.gz", content[1:]+"!")
	s.fails([]string{"debian-12-amd64.tar.gz has the checksum", "its manifest says " + m.SHA256, "build or copy both again"}, "image", "upload", image)
}

func TestTitleCannotSpoilTheList(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	image := s.file("a.tar.gz", content)
	if _, _, err := s.run("image", "upload", image, "--name", "custom/a", "--title", "One\tTwo\n\x1b[2JThree"); err != nil {
		t.Fatal(err)
	}
	out, _, err := s.run("image", "list")
	if err != nil || strings.Count(out, "\n") != 2 || strings.ContainsAny(out, "\t\x1b") || !strings.Contains(out, "One Two  [2JThree") {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestImageMadeElsewhere(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	image := s.file("ubuntu.dd.gz", content)
	s.fails([]string{"has no manifest (ubuntu.manifest.json is not there): give --name"}, "image", "upload", image)
	out, _, err := s.run("image", "upload", image, "--name", "custom/ubuntu-2404", "--base-image", "ubuntu/noble")
	if err != nil || !strings.HasPrefix(out, "MAAS at "+s.host()+" has custom/ubuntu-2404, complete") {
		t.Errorf("got %q, %v", out, err)
	}
	var form map[string][]string
	for _, r := range s.region.Requests() {
		if r.Method == http.MethodPost {
			form = r.Form
		}
	}
	for field, want := range map[string]string{"name": "custom/ubuntu-2404", "title": "ubuntu-2404", "architecture": "amd64/generic", "filetype": "ddgz", "base_image": "ubuntu/noble", "size": "9"} {
		if got := form[field]; len(got) != 1 || got[0] != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
	s.file("ubuntu.dd.gz", content+content)
	if out, _, err = s.run("image", "upload", image, "--name", "custom/ubuntu-2404", "--architecture", "amd64"); err != nil || !strings.Contains(out, "in place of what it had under this name") {
		t.Errorf("got %q, %v", out, err)
	}
	s.fails([]string{"the name image does not tell the file type: give it with --file-type, one of ddbz2, "}, "image", "upload", s.file("image", content), "--name", "custom/a")
	_, _, err = s.run("image", "upload", s.file("image.qcow2", content), "--name", "custom/a")
	if err == nil || !strings.Contains(err.Error(), "qemu-img convert") || strings.Contains(err.Error(), "--file-type") {
		t.Errorf("got %v", err)
	}
	s.fails([]string{`"zip" is not a file type that MAAS takes`}, "image", "upload", image, "--name", "custom/a", "--file-type", "zip")
	if out, _, err = s.run("image", "upload", s.file("image", content), "--name", "custom/a", "--file-type", "txz", "--title", "T"); err != nil || !strings.HasPrefix(out, "MAAS at "+s.host()+" has custom/a") {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	upload := func(s *shell) []string {
		return []string{"image", "upload", s.file("a.tar.gz", content), "--name", "custom/a"}
	}
	list := func(*shell) []string { return []string{"image", "list"} }
	for name, tt := range map[string]struct {
		change func(*shell)
		args   func(*shell) []string
		says   []string
	}{
		"no administrator": {func(s *shell) { s.env["MAAS_API_KEY"] = userKey }, upload, []string{"reserved for admin users", "set MAAS_API_KEY to the key of one"}},
		"an unknown key":   {func(s *shell) { s.env["MAAS_API_KEY"] = "consumerUSER000009:tokenUSER000000001:x" }, list, []string{"does not know this API key", "Set MAAS_API_KEY"}},
		"no key":           {func(s *shell) { s.env["MAAS_API_KEY"] = "" }, upload, []string{"the environment variable MAAS_API_KEY is not set"}},
		"half a key":       {func(s *shell) { s.env["MAAS_API_KEY"] = "consumerUSER000001:tokenUSER000000001" }, upload, []string{"the environment variable MAAS_API_KEY is not valid"}},
		"no address":       {func(s *shell) { delete(s.env, "MAAS_ENDPOINT") }, list, []string{"the environment variable MAAS_ENDPOINT is not set"}},
		"nobody listens":   {func(s *shell) { s.env["MAAS_ENDPOINT"] = "http://127.0.0.1:1/MAAS" }, upload, []string{"connection refused", "Look whether MAAS_ENDPOINT is right (http://127.0.0.1:1/MAAS/api/2.0/)"}},
		"something else":   {func(s *shell) { s.env["MAAS_ENDPOINT"] = elsewhere(s.t) }, list, []string{"a web page answered", "check the endpoint"}},
		"no CA file":       {func(s *shell) { s.env["MAAS_CA_FILE"] = "/nonexistent/ca.pem" }, list, []string{"the environment variable MAAS_CA_FILE is not valid"}},
		"a name in parts":  {func(*shell) {}, func(s *shell) []string { return append(upload(s), "--name", "custom/a/b") }, []string{`"custom/a/b" is not a name that MAAS takes: custom/ and`}},
		"a reserved name":  {func(*shell) {}, func(s *shell) []string { return append(upload(s), "--name", "custom/jammy") }, []string{"jammy is a reserved name"}},
		"no file": {func(*shell) {}, func(s *shell) []string {
			return []string{"image", "upload", s.dir + "/gone.tar.gz", "--name", "custom/a"}
		}, []string{"there is no image"}},
		"no argument":       {func(*shell) {}, func(*shell) []string { return []string{"image", "upload"} }, []string{"accepts 1 arg"}},
		"a broken manifest": {func(s *shell) { s.file("a.manifest.json", "{}") }, upload, []string{"a.manifest.json is not a whole manifest"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			tt.change(s)
			s.fails(tt.says, tt.args(s)...)
		})
	}
}

func elsewhere(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>Welcome</html>"))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestInterruptedUploadIsShownAndTakenUp(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	image := s.file("a.tar.gz", content)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	s.ctx = ctx
	s.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Method != http.MethodPut {
			return simulator.Fault{}
		}
		stop()
		return simulator.Fault{Status: http.StatusServiceUnavailable}
	})
	s.fails([]string{"interrupted; in MAAS, the image custom/a (boot resource 5) is incomplete and cannot be deployed: run the same upload again"},
		"image", "upload", image, "--name", "custom/a")
	s.ctx = context.Background()
	s.region.SetIntercept(nil)
	if out, _, err := s.run("image", "list"); err != nil || !strings.Contains(out, "custom/a   amd64/generic   a       9 B    no ") {
		t.Errorf("got %q, %v", out, err)
	}
	if out, _, err := s.run("image", "upload", image, "--name", "custom/a"); err != nil || !strings.HasPrefix(out, "MAAS at "+s.host()+" has custom/a, complete") {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestHelpNamesTheEnvironment(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	out, _, err := s.run("--help")
	for _, text := range []string{"MAAS_ENDPOINT", "MAAS_API_KEY", "MAAS_CA_FILE", "image"} {
		if err != nil || !strings.Contains(out, text) {
			t.Errorf("%s is not in %q, %v", text, out, err)
		}
	}
}
