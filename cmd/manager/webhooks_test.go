package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

func TestARenewedCertificateCountsAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	for _, option := range newWebhookServer(9443, dir).(*webhook.DefaultServer).Options.TLSOpts {
		option(config)
	}
	for range 2 {
		want := writeCertificate(t, dir)
		got, err := config.GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Certificate[0], want) {
			t.Error("another certificate is served than the one in the folder")
		}
	}
}

func TestACertificateThatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	_, err := readCertificate("/nowhere")
	if err == nil || !strings.Contains(err.Error(), "tls.crt and tls.key in /nowhere") {
		t.Errorf("error %v, want the files named", err)
	}
}

// writeCertificate makes a new certificate in dir, and returns it in DER.
func writeCertificate(t *testing.T, dir string) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: certificate}, "tls.key": {Type: "EC PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate
}
