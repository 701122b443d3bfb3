package simulator_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func startTLS(t *testing.T) (*simulator.Region, *simulator.Server, string) {
	t.Helper()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	region, server := serve(t, simulator.Config{
		TLS:      simulator.TLS{Listen: "127.0.0.1:0", CAOut: ca},
		Machines: []simulator.Machine{{Hostname: "node-1", SystemID: "abcdef"}},
	})
	return region, server, ca
}

func clientOf(t *testing.T, endpoint, caFile string) *maas.Client {
	t.Helper()
	client, err := maas.New(maas.Config{Endpoint: endpoint, APIKey: simulator.DefaultAPIKey, CAFile: caFile})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// trusting is an HTTP client that trusts the server's CA alone.
func trusting(t *testing.T, server *simulator.Server, config *tls.Config) *http.Client {
	t.Helper()
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(server.CA) {
		t.Fatalf("the server's CA is no certificate: %q", server.CA)
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestClientWithTheCAUsesTheTLSPortForEverything(t *testing.T) {
	t.Parallel()
	_, server, ca := startTLS(t)
	client := clientOf(t, server.TLSURL, ca)
	ctx := t.Context()
	if _, err := client.Zones(ctx); err != nil {
		t.Error(err)
	}
	if _, err := client.Version(ctx); err != nil {
		t.Error(err)
	}
	m, err := client.Allocate(ctx, maas.AllocateParams{AgentName: "claim"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Deploy(ctx, m.SystemID, maas.DeployParams{}); err != nil {
		t.Error(err)
	}
}

func TestClientWithoutTheCARefusesTheTLSPort(t *testing.T) {
	t.Parallel()
	_, server, _ := startTLS(t)
	_, err := clientOf(t, server.TLSURL, "").Zones(t.Context())
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("%v, want a refusal that names the certificate", err)
	}
}

func TestClientOfThePlainPortIsToldWhereTheTLSPortIs(t *testing.T) {
	t.Parallel()
	region, server, _ := startTLS(t)
	client := clientOf(t, server.URL, "")
	ctx := t.Context()
	if machines, err := client.Machines(ctx, maas.MachineFilter{}); err != nil || len(machines) != 1 {
		t.Errorf("machines: %d, %v; the plain port serves them", len(machines), err)
	}
	m, err := client.Allocate(ctx, maas.AllocateParams{})
	if err != nil || m.SystemID != "abcdef" {
		t.Errorf("allocate: %v", err)
	}
	_, err = client.Zones(ctx)
	if want := "set the endpoint to " + server.TLSURL; !errors.Is(err, maas.ErrNotMAAS) || !strings.Contains(err.Error(), want) {
		t.Errorf("zones: %v, want %q", err, want)
	}
	for _, r := range region.Requests() {
		if strings.Contains(r.Path, "/zones/") && (r.Status != 301 || r.Operation != "") {
			t.Errorf("the region ran a request that was redirected: %+v", r)
		}
	}
}

func TestPlainPortServesOnlyWhatMachinesAndRacksNeedOnceThereIsTLS(t *testing.T) {
	t.Parallel()
	_, server, _ := startTLS(t)
	base := strings.TrimSuffix(server.URL, "/MAAS")
	secure := strings.TrimSuffix(server.TLSURL, "/MAAS")
	redirected := []string{
		"/MAAS", "/MAAS/", "/MAAS/r/", "/MAAS/?next=%2FMAAS%2F", "/MAAS/api/version/", "/MAAS/api/1.0/nodes/", "/MAAS/api/2.0/zones/", "/MAAS/api/2.0/nodes/?id=a&id=b",
		"/MAAS/api/2.0/version/", "/MAAS/nosuch",
	}
	for _, path := range redirected {
		got := call(t, http.DefaultClient, http.MethodGet, base+path, nil)
		if got.status != 301 || got.location() != secure+path || !strings.Contains(got.body, "<h1>301 Moved Permanently</h1>") {
			t.Errorf("%s: %d to %q", path, got.status, got.location())
		}
	}
	served := map[string]int{
		"/MAAS/api/2.0/machines/": 400, "/MAAS/api/2.0/machines": 404, "/MAAS/api/2.0/machines/abcdef/": 401,
		"/MAAS/api/2.0/machines/op-is_registered?mac_address=52:54:00:00:00:01": 200, "/MAAS/metadata/": 200,
		"/": 404, "/favicon.ico": 404,
	}
	for path, status := range served {
		got := call(t, http.DefaultClient, http.MethodGet, base+path, nil)
		if got.status != status {
			t.Errorf("%s: %d to %q, want %d", path, got.status, got.location(), status)
		}
		if got.header.Get("Strict-Transport-Security") != "" {
			t.Errorf("%s: the plain port sends Strict-Transport-Security", path)
		}
	}
	for _, path := range []string{"/MAAS/rpc/", "/MAAS/images-stream/streams/v1/index.json", "/MAAS/boot-resources/x", "/MAAS/maas-run-scripts", "/MAAS/machine-resources/amd64"} {
		if got := call(t, http.DefaultClient, http.MethodGet, base+path, nil); strings.HasPrefix(got.location(), "https:") {
			t.Errorf("%s is sent to the TLS port, where racks and machines do not look", path)
		}
	}
}

func TestRedirectKeepsTheNameThatTheClientUsed(t *testing.T) {
	t.Parallel()
	_, server, _ := startTLS(t)
	u, err := url.Parse(server.TLSURL)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{"MAAS.example:5240": "maas.example", "maas.example": "maas.example", "[fd00::1]:5240": "[fd00::1]", "[fd00::1]": "[fd00::1]"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/2.0/zones/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := resp.Header.Get("Location"); got != "https://"+want+":"+u.Port()+"/MAAS/api/2.0/zones/" {
			t.Errorf("host %s is sent to %s", host, got)
		}
	}
}

func TestTLSPortSpeaksWhatMAASSpeaks(t *testing.T) {
	t.Parallel()
	_, server, _ := startTLS(t)
	for name, config := range map[string]*tls.Config{
		"TLS 1.2": {MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12}, "TLS 1.3": {MinVersion: tls.VersionTLS13},
	} {
		got := call(t, trusting(t, server, config), http.MethodGet, server.TLSURL+"/api/version/", nil)
		if got.proto != 2 || got.body != "2.0" || got.header.Get("Strict-Transport-Security") != "max-age=15552000; includeSubdomains" {
			t.Errorf("%s: HTTP/%d %q, %v", name, got.proto, got.body, got.header)
		}
	}
	client := trusting(t, server, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}) //nolint:gosec // what has to be refused
	if resp, err := client.Get(server.TLSURL + "/api/version/"); err == nil {
		_ = resp.Body.Close()
		t.Error("TLS 1.1 is taken")
	}
	for path, status := range map[string]int{"/api/2.0/zones/": 401, "/nosuch": 302, "/": 301} {
		got := call(t, trusting(t, server, &tls.Config{MinVersion: tls.VersionTLS12}), http.MethodGet, server.TLSURL+path, nil)
		if got.status != status || got.header.Get("Strict-Transport-Security") == "" {
			t.Errorf("%s: %d, %v", path, got.status, got.header)
		}
	}
}

func TestDroppedAnswerEndsARequestOverHTTP2(t *testing.T) {
	t.Parallel()
	region, server, ca := startTLS(t)
	region.SetIntercept(func(simulator.Request) simulator.Fault { return simulator.Fault{DropAnswer: true} })
	_, err := clientOf(t, server.TLSURL, ca).Allocate(t.Context(), maas.AllocateParams{AgentName: "claim"})
	if !errors.Is(err, maas.ErrOutcomeUnknown) {
		t.Errorf("%v, want an unknown outcome", err)
	}
	if m := region.Snapshot().Machines; len(m) != 1 || m[0].AgentName != "claim" {
		t.Errorf("%+v was not allocated", m)
	}
}

func TestPlainRequestToTheTLSPortNamesTheScheme(t *testing.T) {
	t.Parallel()
	_, server, _ := startTLS(t)
	_, err := clientOf(t, strings.Replace(server.TLSURL, "https:", "http:", 1), "").Zones(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the endpoint is probably "+server.TLSURL) {
		t.Errorf("%v, want the https URL", err)
	}
}

func TestMachinesAreSentToThePlainPort(t *testing.T) {
	t.Parallel()
	booter := make(booted, 1)
	_, server := serve(t, simulator.Config{
		TLS: simulator.TLS{Listen: "127.0.0.1:0"}, Boot: booter, Machines: []simulator.Machine{{Hostname: "node-1"}},
	})
	client := clientOf(t, server.URL, "")
	m, err := client.Allocate(t.Context(), maas.AllocateParams{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Deploy(t.Context(), m.SystemID, maas.DeployParams{}); err != nil {
		t.Fatal(err)
	}
	if machine := <-booter; !strings.HasPrefix(machine.MetadataURL, server.URL+"/metadata/") {
		t.Errorf("it looks for its metadata at %s", machine.MetadataURL)
	}
}

// booted tells of machines that were started.
type booted chan simulator.BootMachine

func (b booted) Boot(_ context.Context, m simulator.BootMachine) error {
	b <- m
	return nil
}

func (booted) Halt(context.Context, string, bool) error { return nil }

func TestCertificateOfFilesIsServed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	der := writeCertificate(t, certFile, keyFile)
	_, server := serve(t, simulator.Config{TLS: simulator.TLS{Listen: "127.0.0.1:0", CertFile: certFile, KeyFile: keyFile}})
	if server.CA != nil {
		t.Error("there is a CA that nobody asked for")
	}
	if _, err := clientOf(t, server.TLSURL, certFile).Zones(t.Context()); err != nil {
		t.Error(err)
	}
	conn, err := tls.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(server.TLSURL, "https://"), "/MAAS"), &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // it is compared
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.ConnectionState().PeerCertificates[0].Raw; string(got) != string(der) {
		t.Error("another certificate is served")
	}
}

// writeCertificate writes a certificate that signs itself, and its key.
func writeCertificate(t *testing.T, certFile, keyFile string) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return der
}

func TestCAForClientsIsOneThatEverybodyMayRead(t *testing.T) {
	t.Parallel()
	_, server, path := startTLS(t)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(content) != string(server.CA) || info.Mode().Perm()&^0o022 != 0o644 {
		t.Errorf("mode %v, and it is that of the server: %v", info.Mode(), string(content) == string(server.CA))
	}
	block, rest := pem.Decode(content)
	if block == nil || block.Type != "CERTIFICATE" || len(rest) != 0 {
		t.Fatalf("the file holds %q", content)
	}
	ca, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if !ca.IsCA || ca.PublicKeyAlgorithm != x509.ECDSA || time.Until(ca.NotAfter) > 31*24*time.Hour {
		t.Errorf("CA %v, %v, until %v", ca.IsCA, ca.PublicKeyAlgorithm, ca.NotAfter)
	}
}

func TestTLSThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for want, c := range map[string]simulator.TLS{
		"tls.listen":                {CAOut: "x"},
		"tls.certFile and":          {Listen: "127.0.0.1:0", CertFile: "x"},
		"tls.keyFile belong":        {Listen: "127.0.0.1:0", KeyFile: "x"},
		"tls.caOut":                 {Listen: "127.0.0.1:0", CertFile: "x", KeyFile: "y", CAOut: "z"},
		"no such file":              {Listen: "127.0.0.1:0", CertFile: filepath.Join(dir, "x"), KeyFile: filepath.Join(dir, "y")},
		"tls.caOut: open":           {Listen: "127.0.0.1:0", CAOut: filepath.Join(dir, "no", "ca.pem")},
		"listen for the API with T": {Listen: "127.0.0.1:port"},
	} {
		region, err := simulator.New(simulator.Config{TLS: c})
		if err == nil {
			var server *simulator.Server
			if server, err = region.Start(t.Context(), "127.0.0.1:0"); err == nil {
				closeServer(t, server)
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}
