package host

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

// errSeen ends the handshake once the name is known.
var errSeen = errors.New("the name is known")

// ServerName reads the beginning of a TLS connection and returns the name of the server that the client wants (lower case, no
// final dot), and all that was read: the handshake has still to be done by the real server. It is an error when the client speaks
// no TLS or names none.
func ServerName(ctx context.Context, client io.Reader) (string, []byte, error) {
	var read bytes.Buffer
	name := ""
	config := &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			name = hello.ServerName
			return nil, errSeen
		},
	}
	err := tls.Server(listenOnly{io.TeeReader(client, &read)}, config).HandshakeContext(ctx)
	switch {
	case !errors.Is(err, errSeen):
		return "", read.Bytes(), errors.New("the client does not speak TLS")
	case name == "":
		return "", read.Bytes(), errors.New("the client names no server: its kubeconfig needs tls-server-name")
	}
	return strings.ToLower(strings.TrimSuffix(name, ".")), read.Bytes(), nil
}

// listenOnly is a connection that nothing is ever said on.
type listenOnly struct{ io.Reader }

func (listenOnly) Write(p []byte) (int, error)      { return len(p), nil }
func (listenOnly) Close() error                     { return nil }
func (listenOnly) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (listenOnly) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (listenOnly) SetDeadline(time.Time) error      { return nil }
func (listenOnly) SetReadDeadline(time.Time) error  { return nil }
func (listenOnly) SetWriteDeadline(time.Time) error { return nil }
