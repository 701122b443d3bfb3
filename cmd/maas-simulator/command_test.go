package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// run starts the command and returns what it printed until its URL, and a
// function that interrupts it and waits for its end.
func run(t *testing.T, args ...string) (string, func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	cmd := newCommand(writer)
	cmd.SetArgs(args)
	done := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		_ = writer.CloseWithError(io.EOF)
		done <- err
	}()
	printed := make(chan string, 1)
	go func() {
		var all bytes.Buffer
		buf := make([]byte, 4096)
		for !strings.Contains(all.String(), "API key") {
			n, err := reader.Read(buf)
			all.Write(buf[:n])
			if err != nil {
				break
			}
		}
		printed <- all.String()
		_, _ = io.Copy(io.Discard, reader)
	}()
	stop := func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(20 * time.Second):
			t.Fatal("the command did not end")
			return nil
		}
	}
	select {
	case text := <-printed:
		return text, stop
	case <-time.After(20 * time.Second):
		t.Fatal("the command printed no URL")
		return "", stop
	}
}

func TestCommandServesUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "region.yaml")
	content := "users: [{name: capi, apiKey: 'a:b:c', admin: true}]\nmachines: [{hostname: x}]\ndurations: {install: 1s}\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	images := filepath.Join(t.TempDir(), "images")
	text, stop := run(t, "--config", file, "--machines", "2", "--listen", "127.0.0.1:0", "--maas-version", "3.5", "--image-dir", images)
	if _, err := os.Stat(images); err != nil {
		t.Error(err)
	}
	if !strings.Contains(text, "MAAS 3.5.13, simulated, with 3 machines") || !strings.Contains(text, "a:b:c (capi, admin)") {
		t.Errorf("printed %q", text)
	}
	_, rest, _ := strings.Cut(text, "http://")
	url, _, _ := strings.Cut(rest, "\n")
	resp, err := http.Get("http://" + url + "/api/2.0/version/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); !strings.Contains(string(body), "3.5.13") {
		t.Errorf("version is %s", body)
	}
	if err := stop(); err != nil {
		t.Errorf("an interrupt ends it with %v", err)
	}
}

func TestCommandServesTLSAndWritesTheCA(t *testing.T) {
	t.Parallel()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	text, stop := run(t, "--listen", "127.0.0.1:0", "--tls-listen", "127.0.0.1:0", "--tls-ca-out", ca)
	_, rest, _ := strings.Cut(text, "with TLS ")
	url, _, _ := strings.Cut(rest, "\n")
	pem, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	resp, err := client.Get(url + "/api/2.0/version/")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%s answers %s", url, resp.Status)
	}
	if err := stop(); err != nil {
		t.Errorf("an interrupt ends it with %v", err)
	}
}

func TestCommandSaysInOneLineWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := map[string]struct {
		args []string
		want string
	}{
		"no such file":     {[]string{"--config", filepath.Join(dir, "nope")}, "nope"},
		"misspelled field": {[]string{"--config", write("a.yaml", "machines: [{hostnam: x}]")}, "hostnam"},
		"bad duration":     {[]string{"--config", write("b.yaml", "durations: {install: soon}")}, "install"},
		"unknown zone":     {[]string{"--config", write("c.yaml", "machines: [{hostname: x, zone: z}]")}, `no zone "z"`},
		"unknown profile":  {[]string{"--profile", "fast"}, "fast"},
		"negative count":   {[]string{"--machines", "-1"}, "--machines"},
		"bad address":      {[]string{"--listen", "127.0.0.1:port"}, "port"},
		"bad image folder": {[]string{"--image-dir", write("file", "")}, "imageDir"},
		"no TLS address":   {[]string{"--tls-ca-out", "ca.pem"}, "tls.listen"},
		"argument":         {[]string{"x"}, "x"},
	}
	for name, tt := range tests {
		cmd := newCommand(io.Discard)
		cmd.SetArgs(tt.args)
		err := cmd.ExecuteContext(t.Context())
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", name, err, tt.want)
		}
	}
}

func TestTimesComeFromFlagsThenTheFileThenTheProfile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "region.yaml")
	if err := os.WriteFile(file, []byte("profile: slow\ndurations: {install: 1s, boot: 2s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const second = time.Second
	tests := map[string]struct {
		args    []string
		profile simulator.Profile
		want    simulator.Durations
	}{
		"nothing":             {nil, "", simulator.Durations{Install: 20 * second, Boot: 5 * second, PowerOff: 2 * second}},
		"a flag":              {[]string{"--boot-time", "7s"}, "", simulator.Durations{Install: 20 * second, Boot: 7 * second, PowerOff: 2 * second}},
		"a profile":           {[]string{"--profile", "maas-like"}, simulator.ProfileMAASLike, simulator.Durations{}},
		"a profile and flag":  {[]string{"--profile", "instant", "--boot-time", "7s"}, simulator.ProfileInstant, simulator.Durations{Boot: 7 * second}},
		"a file":              {[]string{"--config", file}, simulator.ProfileSlow, simulator.Durations{Install: second, Boot: 2 * second}},
		"a file, flags win":   {[]string{"--config", file, "--boot-time", "7s"}, simulator.ProfileSlow, simulator.Durations{Install: second, Boot: 7 * second}},
		"a profile over file": {[]string{"--config", file, "--profile", "instant"}, simulator.ProfileInstant, simulator.Durations{Install: second, Boot: 2 * second}},
	}
	for name, tt := range tests {
		var o options
		cmd := &cobra.Command{}
		o.addFlags(cmd)
		if err := cmd.Flags().Parse(tt.args); err != nil {
			t.Fatal(err)
		}
		cfg, err := o.build(cmd.Flags().Changed)
		if err != nil || cfg.Profile != tt.profile || cfg.Durations != tt.want {
			t.Errorf("%s: %v, profile %q, %+v", name, err, cfg.Profile, cfg.Durations)
		}
	}
}
