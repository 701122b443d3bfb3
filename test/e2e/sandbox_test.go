package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// root is the checkout, seen from this package.
const root = "../.."

// state is the folder of the sandbox of these tests, beside that of a person who may have one running.
const state = ".sandbox-e2e"

// sandbox is one that runs for a test.
type sandbox struct {
	t       *testing.T
	control *http.Client
}

// start starts a sandbox without a cluster, and ends it with the test.
func start(t *testing.T, machines int) *sandbox {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("the sandbox needs root: run `make test-e2e` as root")
	}
	if _, err := os.Stat(filepath.Join(root, "_build/bin/sandbox")); err != nil {
		t.Fatal("the sandbox is not built: run `make test-e2e`, which builds it")
	}
	s := &sandbox{t: t, control: &http.Client{Transport: &http.Transport{
		// A relative path is short enough for a socket's name.
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(root, state, "control.sock"))
		},
	}}}
	t.Cleanup(func() { s.down() })
	s.run("up", "--no-cluster", fmt.Sprintf("--machines=%d", machines))
	return s
}

// run runs the sandbox program; what it prints is the test's log.
func (s *sandbox) run(args ...string) {
	s.t.Helper()
	if out, err := s.command(args...); err != nil {
		s.t.Fatalf("sandbox %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (s *sandbox) command(args ...string) (string, error) {
	s.t.Logf("sandbox %s", strings.Join(args, " "))
	cmd := exec.CommandContext(s.t.Context(), "_build/bin/sandbox", append(args, "--dir", state)...)
	// When the test is stopped the program is asked, so that it leaves nothing behind.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir = root
	var out bytes.Buffer
	cmd.Stdout = io.MultiWriter(&out, logWriter{s.t})
	cmd.Stderr = cmd.Stdout
	err := cmd.Run()
	return out.String(), err
}

// inside runs a program in a machine, and returns what it prints.
func (s *sandbox) inside(machine string, argv ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "_build/bin/sandbox", append([]string{"--dir", state, "shell", machine}, argv...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%s in %s: %v", argv[0], machine, err)
	}
	return string(out)
}

func (s *sandbox) down() {
	cmd := exec.CommandContext(context.Background(), "_build/bin/sandbox", "down", "--dir", state)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Errorf("sandbox down: %v\n%s", err, out)
	}
}

type logWriter struct{ t *testing.T }

func (w logWriter) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		w.t.Log(strings.TrimRight(line, "\n"))
	}
	return len(text), nil
}

// snapshot returns what the MAAS region holds.
func (s *sandbox) snapshot() simulator.Snapshot {
	s.t.Helper()
	var snapshot simulator.Snapshot
	s.ask(http.MethodGet, "/snapshot", &snapshot)
	return snapshot
}

// requests returns the operations that the region was asked for by a name, oldest first.
func (s *sandbox) requests(op string) []simulator.Request {
	s.t.Helper()
	var all, some []simulator.Request
	s.ask(http.MethodGet, "/requests", &all)
	for _, request := range all {
		if request.Op == op {
			some = append(some, request)
		}
	}
	return some
}

// owned returns the hostnames of the region's machines that somebody owns.
func (s *sandbox) owned() []string {
	var names []string
	for _, machine := range s.snapshot().Machines {
		if machine.Owner != "" {
			names = append(names, machine.Hostname)
		}
	}
	return names
}

// free returns a machine that nobody owns.
func (s *sandbox) free() simulator.MachineSnapshot {
	s.t.Helper()
	for _, machine := range s.snapshot().Machines {
		if machine.StatusName == "Ready" {
			return machine
		}
	}
	s.t.Fatal("no machine is Ready")
	return simulator.MachineSnapshot{}
}

// environment is how a person outside reaches the sandbox's MAAS: variables and their values.
func (s *sandbox) environment() []string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(root, state, "maas.env"))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Fields(string(text))
}

func (s *sandbox) maas() *maas.Client {
	s.t.Helper()
	var config maas.Config
	for _, variable := range s.environment() {
		switch name, value, _ := strings.Cut(variable, "="); name {
		case "MAAS_ENDPOINT":
			config.Endpoint = value
		case "MAAS_API_KEY":
			config.APIKey = value
		}
	}
	client, err := maas.New(config)
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

func (s *sandbox) ask(method, path string, into any) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, "http://localhost"+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, err := s.control.Do(request)
	if err != nil {
		s.t.Fatalf("asking the sandbox: %v", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		text, _ := io.ReadAll(answer.Body)
		s.t.Fatalf("%s %s: %s: %s", method, path, answer.Status, text)
	}
	if into != nil {
		if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
			s.t.Fatalf("%s %s: %v", method, path, err)
		}
	}
}

// cluster is a client of one of the sandbox's clusters, as a person outside of it has one.
type cluster struct {
	client.Client
	raw *kubernetes.Clientset
}

func (s *sandbox) cluster(kubeconfig string) cluster {
	s.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(root, state, kubeconfig))
	if err != nil {
		s.t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, clusterv1.AddToScheme, controlplanev1.AddToScheme, infrav1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			s.t.Fatal(err)
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		s.t.Fatal(err)
	}
	raw, err := kubernetes.NewForConfig(config)
	if err != nil {
		s.t.Fatal(err)
	}
	return cluster{Client: c, raw: raw}
}

// eventually asks until the answer is "", which is what is wrong otherwise.
func eventually(t *testing.T, within time.Duration, what string, wrong func() string) {
	t.Helper()
	begin := time.Now()
	for {
		answer := wrong()
		if answer == "" {
			t.Logf("%s: after %s", what, time.Since(begin).Round(time.Second))
			return
		}
		if time.Since(begin) > within {
			t.Fatalf("%s: not within %s: %s", what, within, answer)
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%s: stopped: %s", what, answer)
		case <-time.After(time.Second):
		}
	}
}
