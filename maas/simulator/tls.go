package simulator

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// TLS makes a region serve HTTPS on a port of its own, as MAAS 3.2 and newer do
// after "maas config-tls enable". The plain port then serves only what machines
// and racks ask for, and redirects everything else. The zero value is no TLS.
type TLS struct {
	// Listen is host:port, port 0 for a free one; no TLS when empty. MAAS's own
	// port is 5443.
	Listen string `json:"listen,omitempty"`
	// CertFile holds the certificate (PEM, its chain after it), KeyFile its key.
	// When both are empty, Start makes a CA and a certificate for the address of
	// Listen, which live in memory, for 30 days.
	CertFile string `json:"certFile,omitempty"`
	KeyFile  string `json:"keyFile,omitempty"`
	// CAOut is a file that the CA's certificate is written into for clients, if
	// Start makes one.
	CAOut string `json:"caOut,omitempty"`
}

// certificateLife is how long a certificate that Start made is good for.
const certificateLife = 30 * 24 * time.Hour

// check finds what is wrong before anything is started.
func (c TLS) check() error {
	switch {
	case c.Listen == "" && c != TLS{}:
		return errors.New("tls.listen is empty, without which the rest of tls is of no use")
	case (c.CertFile == "") != (c.KeyFile == ""):
		return errors.New("tls.certFile and tls.keyFile belong together")
	case c.CAOut != "" && c.CertFile != "":
		return errors.New("tls.caOut is for the CA that is made without tls.certFile")
	}
	return nil
}

// secure puts TLS on a listener. ca is the certificate (PEM) that clients need,
// if it was made here.
func (c TLS) secure(listener net.Listener) (secure net.Listener, ca []byte, err error) {
	var certificate tls.Certificate
	if c.CertFile != "" {
		certificate, err = tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	} else {
		certificate, ca, err = makeCertificate(c.Listen)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("tls: %w", err)
	}
	if c.CAOut != "" {
		if err := os.WriteFile(c.CAOut, ca, 0o644); err != nil { //nolint:gosec // a certificate is for everybody
			return nil, nil, fmt.Errorf("tls.caOut: %w", err)
		}
	}
	return tls.NewListener(listener, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{certificate},
	}), ca, nil
}

// makeCertificate makes a CA, and a certificate for the host of listen and for
// this host, that the CA signed. Neither key leaves the process.
func makeCertificate(listen string) (tls.Certificate, []byte, error) {
	// The clients' clock counts for certificates, whatever the region's says.
	began := time.Now().Add(-time.Hour)
	template := func(serial int64, name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
			NotBefore: began, NotAfter: began.Add(certificateLife), BasicConstraintsValid: true,
		}
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	authority := template(began.UnixNano(), "MAAS simulator CA "+rand.Text()[:8])
	authority.IsCA, authority.KeyUsage = true, x509.KeyUsageCertSign
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	leaf := template(began.UnixNano()+1, "maas")
	leaf.KeyUsage, leaf.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leaf.DNSNames, leaf.IPAddresses = namesOf(listen)
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, authority, key.Public(), authorityKey)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authorityDER})
	return tls.Certificate{Certificate: [][]byte{leafDER, authorityDER}, PrivateKey: key}, ca, nil
}

// namesOf are the names and addresses at which clients find what listens on
// host:port: the host, this host's own addresses if it is all of them, and the
// loopback.
func namesOf(listen string) (names []string, addresses []net.IP) {
	names = []string{"localhost"}
	addresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return names, addresses
	}
	ip := net.ParseIP(host)
	switch {
	case host == "" || ip != nil && ip.IsUnspecified():
		own, err := net.InterfaceAddrs()
		if err != nil {
			return names, addresses
		}
		for _, address := range own {
			if network, ok := address.(*net.IPNet); ok {
				addresses = append(addresses, network.IP)
			}
		}
		if name, err := os.Hostname(); err == nil {
			names = append(names, name)
		}
	case ip != nil:
		addresses = append(addresses, ip)
	default:
		names = append(names, host)
	}
	return names, addresses
}
