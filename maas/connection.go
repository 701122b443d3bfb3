package maas

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

// failedToConnect says whether the request surely was not sent.
func failedToConnect(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") ||
		errors.As(err, &dns) || errors.As(err, &cert) || errors.Is(err, http.ErrSchemeMismatch)
}

// describeTransport names a failure in words that are the same each time: no ports, times or counters.
func describeTransport(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	var timeout net.Error
	late := errors.As(err, &timeout) && timeout.Timeout()
	switch {
	case errors.Is(err, context.Canceled):
		return "the call was cancelled"
	case errors.As(err, &dns):
		return "the host name " + dns.Name + " cannot be resolved"
	case errors.As(err, &op) && op.Op == "dial" && late:
		return "cannot connect: no answer in time"
	case errors.As(err, &op) && op.Op == "dial":
		return "cannot connect: " + withoutCall(op.Err)
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return "cannot connect to the proxy"
	case late:
		return "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before the answer was complete"
	case errors.As(err, &op):
		return "the connection broke: " + withoutCall(op.Err)
	}
	return describeTLS(err)
}

// withoutCall leaves the name of the system call out, which says nothing to people.
func withoutCall(err error) string {
	var call *os.SyscallError
	if errors.As(err, &call) {
		return call.Err.Error()
	}
	return err.Error()
}

func describeTLS(err error) string {
	var cert *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var wrong x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		return "MAAS's certificate is signed by an authority that is not trusted; give its certificate as CA file"
	case errors.As(err, &name):
		return "MAAS's certificate is not for the host name " + name.Host
	case errors.As(err, &wrong) && wrong.Reason == x509.Expired:
		return "MAAS's certificate has expired, or is not valid yet"
	case errors.As(err, &cert):
		return "MAAS's certificate cannot be verified"
	}
	// What remains (HTTP/2, malformed answers) ends in counters or in what the server sent.
	text, _, _ := strings.Cut(err.Error(), "\"")
	text, _, _ = strings.Cut(text, ";")
	return "the connection broke: " + text
}
