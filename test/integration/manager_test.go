package integration

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/test/ports"
)

// buildManager builds the manager once, into a folder that goes with the suite.
var buildManager = sync.OnceValues(func() (string, error) {
	path := filepath.Join(suite.folder, "manager")
	out, err := exec.CommandContext(context.Background(), "go", "build", "-o", path, "../../cmd/manager").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the manager: %w\n%s", err, out)
	}
	return path, nil
})

func managerProgram(t *testing.T) string {
	t.Helper()
	path, err := buildManager()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheManagerNamesTheVariableThatIsWrong(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-never-shown"
	manager := managerProgram(t)
	for name, test := range map[string]struct {
		environment []string
		want        string
	}{
		"no endpoint": {[]string{"MAAS_API_KEY=a:b:" + secret},
			"manager: the environment variable MAAS_ENDPOINT is not set (example: http://maas.example.com:5240/MAAS)"},
		"no key": {[]string{"MAAS_ENDPOINT=http://maas:5240/MAAS"},
			"manager: the environment variable MAAS_API_KEY is not set (example: consumer:token:secret)"},
		"an endpoint that is no URL": {[]string{"MAAS_ENDPOINT=not a url", "MAAS_API_KEY=a:b:" + secret},
			"manager: the environment variable MAAS_ENDPOINT is not valid: "},
		"a key of two parts": {[]string{"MAAS_ENDPOINT=http://maas:5240/MAAS", "MAAS_API_KEY=a:" + secret},
			"manager: the environment variable MAAS_API_KEY is not valid: "},
		"a CA file that is not there": {[]string{"MAAS_ENDPOINT=https://maas/MAAS", "MAAS_API_KEY=a:b:" + secret, "MAAS_CA_FILE=/nowhere"},
			"manager: the environment variable MAAS_CA_FILE is not valid: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			command := exec.CommandContext(t.Context(), manager)
			command.Env, command.Stdout, command.Stderr = test.environment, &stdout, &stderr
			err := command.Run()
			if command.ProcessState == nil || command.ProcessState.ExitCode() != 1 {
				t.Errorf("ended with %v, want exit code 1", err)
			}
			if !strings.HasPrefix(stderr.String(), test.want) {
				t.Errorf("said %q, want %q", stderr.String(), test.want)
			}
			if lines := strings.Count(stderr.String(), "\n"); lines != 1 || stdout.Len() > 0 {
				t.Errorf("said more than one line:\n%s%s", stdout.String(), stderr.String())
			}
			if !strings.Contains(stderr.String(), "http://") && !strings.Contains(stderr.String(), "consumer:token:secret") &&
				!strings.Contains(stderr.String(), ".pem") {
				t.Errorf("%q has no example", stderr.String())
			}
			if strings.Contains(stderr.String(), secret) {
				t.Error("the key was printed")
			}
		})
	}
}

func TestTheManagerNamesTheCertificateThatIsMissing(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), managerProgram(t), "--kubeconfig", kubeconfigFile(t), "--health-addr", "0",
		"--metrics-bind-addr", "0", "--webhook-cert-dir", "/nowhere")
	command.Env, command.Stderr = []string{"MAAS_ENDPOINT=http://maas:5240/MAAS", "MAAS_API_KEY=a:b:c"}, &stderr
	if err := command.Run(); err == nil {
		t.Error("it started without a certificate")
	}
	const want = "manager: read the certificate with which webhooks are served, tls.crt and tls.key in /nowhere: "
	if said := stderr.String(); !strings.HasPrefix(said, want) || strings.Count(said, "\n") != 1 ||
		!strings.Contains(said, "--webhook-cert-dir") || !strings.Contains(said, "--webhook-port 0") {
		t.Errorf("said %q, want one line that begins with %q and names the flags", said, want)
	}
}

// The manager has no other rights than those of an installation.
func TestTheManagerAsAProcess(t *testing.T) {
	const secret = "s3cr3t-never-shown"
	key := "consumer:token:" + secret
	config := hardware("m-1")
	config.Users = []simulator.User{{Name: "capi", APIKey: key, Admin: true}}
	l := newDarkLab(t, config)
	other := anotherLab(t, simulator.Config{})
	health, metrics, hooks := ports.TakeAddress(t), ports.TakeAddress(t), ports.TakeAddress(t)
	var log bytes.Buffer
	manager := exec.CommandContext(t.Context(), managerProgram(t), "--namespace", l.namespace, "--health-addr", health,
		"--metrics-bind-addr", metrics, "--logging-format", "json", "--kubeconfig", kubeconfigFile(t),
		"--webhook-port", hooks[strings.LastIndex(hooks, ":")+1:], "--webhook-cert-dir", suite.webhookCerts)
	manager.Env = []string{"MAAS_ENDPOINT=http://" + l.address, "MAAS_API_KEY=" + key}
	manager.Stdout, manager.Stderr = &log, &log
	l.Expect(manager.Start()).To(gomega.Succeed())
	ended := make(chan error, 1)
	go func() { ended <- manager.Wait() }()
	t.Cleanup(func() { _ = manager.Process.Kill() })

	l.Eventually(func() (string, error) {
		select {
		case err := <-ended:
			return "", gomega.StopTrying(fmt.Sprintf("the manager ended: %v\n%s", err, strings.ReplaceAll(log.String(), secret, "(the secret)")))
		default:
			return get("http://" + health + "/readyz"), nil
		}
	}).Should(gomega.Equal("ok"), "while MAAS is down")
	l.Expect(get("http://" + health + "/readyz?verbose")).To(gomega.ContainSubstring("[+]webhooks ok"))
	l.Expect(review(t, "https://"+hooks)).To(gomega.ContainSubstring("spec.dnsDomain: Required value"))
	l.Eventually(func() string { return get("http://" + metrics + "/metrics") }).Should(gomega.And(
		gomega.ContainSubstring("capmaas_maas_available 0\n"),
		gomega.ContainSubstring(`capmaas_maas_requests_total{code="0",method="GET",operation="whoami"}`),
		gomega.ContainSubstring("capmaas_build_info{"),
	))
	l.createCluster(nil)
	other.createCluster(nil)
	l.expectCondition(l.cluster, infrav1.MAASAvailableCondition, metav1.ConditionFalse, infrav1.MAASUnreachableReason)
	l.switchOn()
	l.provisionedCluster()
	l.Eventually(func() string { return get("http://" + metrics + "/metrics") }).Should(gomega.ContainSubstring("capmaas_maas_available 1\n"))
	l.Expect(other.maasCluster().Finalizers).To(gomega.BeEmpty(), "another namespace is not watched")
	l.createMachine("w-1", false)
	l.provisionedMachine("w-1")
	l.Eventually(func() []string { return l.events("w-1") }).Should(gomega.ContainElements("MachineAllocated", "Deployed"))
	l.deleteMachine("w-1")
	l.Expect(l.Delete(t.Context(), l.maasCluster())).To(gomega.Succeed())
	l.expectGone(clusterName, &infrav1.MaasCluster{})
	l.expectNothingLeft()

	l.Expect(manager.Process.Signal(syscall.SIGTERM)).To(gomega.Succeed())
	l.Eventually(ended).Should(gomega.Receive(gomega.BeNil()), "a clean end")
	if strings.Contains(log.String(), secret) {
		t.Error("the log holds the key's secret")
	}
	if strings.Contains(log.String(), "forbidden") {
		t.Errorf("the manager lacks a right:\n%s", log.String())
	}
	if strings.Contains(log.String(), "prefer a domain-qualified finalizer name") {
		t.Errorf("the log has a warning that nobody can do anything about:\n%s", log.String())
	}
}

// kubeconfigFile writes down how the manager reaches the API server.
func kubeconfigFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, suite.managerKubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// get returns the body of an answer 200, or what went wrong.
func get(url string) string {
	answer, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Sprint(answer.Status, err)
	}
	return string(body)
}

// review asks a manager's webhook, as the API server does, for its opinion of a MaasCluster without a domain.
func review(t *testing.T, address string) string {
	t.Helper()
	certificate, err := os.ReadFile(filepath.Join(suite.webhookCerts, "tls.crt"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	caller := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
	answer, err := caller.Post(address+"/validate-infrastructure-cluster-x-k8s-io-v1beta1-maascluster", "application/json", strings.NewReader(`{
		"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "1", "operation": "CREATE", "object": {
		"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "MaasCluster", "metadata": {"name": "c1"}}}}`))
	if err != nil {
		return err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}
