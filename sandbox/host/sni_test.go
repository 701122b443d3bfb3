package host

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
)

// hello is what a TLS client that wants the given server says first.
func hello(t *testing.T, server string) []byte {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() {
		config := &tls.Config{ServerName: server, InsecureSkipVerify: server == ""}
		_ = tls.Client(theirs, config).Handshake()
		theirs.Close()
	}()
	header := make([]byte, 5)
	if _, err := io.ReadFull(ours, header); err != nil {
		t.Fatalf("reading the hello: %v", err)
	}
	body := make([]byte, int(header[3])<<8|int(header[4]))
	if _, err := io.ReadFull(ours, body); err != nil {
		t.Fatalf("reading the hello: %v", err)
	}
	ours.Close()
	return append(header, body...)
}

func TestServerNameIsReadFromTheFirstMessageAndNothingIsLost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ asked, want string }{
		{"t-cluster-ab12cd.maas.sandbox", "t-cluster-ab12cd.maas.sandbox"},
		{"T-Cluster.MAAS.sandbox", "t-cluster.maas.sandbox"},
	} {
		message := hello(t, test.asked)
		// What follows the hello must not be needed, and reading must not run ahead of what the real server gets replayed.
		name, read, err := ServerName(t.Context(), io.MultiReader(bytes.NewReader(message), strings.NewReader("more")))
		if err != nil || name != test.want {
			t.Errorf("ServerName for %q = %q, %v; want %q", test.asked, name, err, test.want)
		}
		if !bytes.HasPrefix(append(read, "more"...), message) {
			t.Errorf("ServerName for %q gave back %d bytes of %d", test.asked, len(read), len(message))
		}
	}
}

func TestServerNameRefusesClientsWithoutOne(t *testing.T) {
	t.Parallel()
	for name, message := range map[string][]byte{
		"no name":  hello(t, ""),
		"no TLS":   []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		"cut off":  hello(t, "a.b")[:40],
		"no bytes": nil,
	} {
		if got, _, err := ServerName(t.Context(), bytes.NewReader(message)); err == nil {
			t.Errorf("%s: ServerName = %q, want an error", name, got)
		}
	}
}
