package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

const (
	// dialTimeout is how long one address of a target may take to answer.
	dialTimeout = 3 * time.Second
	// helloTimeout is how long a client may take to say where it wants to go.
	helloTimeout = 10 * time.Second
	// acceptPause is what passes after a connection that could not be accepted.
	acceptPause = 100 * time.Millisecond
)

// Route says where a connection goes: the address to dial, and what was read from the client on the way and has to be sent first.
type Route func(ctx context.Context, client net.Conn) (address string, read []byte, err error)

// To always leads to one address.
func To(address string) Route {
	return func(context.Context, net.Conn) (string, []byte, error) { return address, nil, nil }
}

// ByServerName leads TLS connections to the server they name, at port: one socket serves any number of clusters, and the name is
// looked up each time, for control planes come and go.
func ByServerName(port string) Route {
	return func(ctx context.Context, client net.Conn) (string, []byte, error) {
		if err := client.SetReadDeadline(time.Now().Add(helloTimeout)); err != nil {
			return "", nil, err
		}
		name, read, err := ServerName(ctx, client)
		if err != nil {
			return "", nil, err
		}
		return net.JoinHostPort(name, port), read, client.SetReadDeadline(time.Time{})
	}
}

// Forward accepts connections on the listener, a socket of the host, and connects each to where route says, dialling from the
// sandbox. Connections that lead nowhere are closed, and report is told why. It returns when ctx ends.
func Forward(ctx context.Context, listener net.Listener, route Route, report func(error)) {
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	for {
		client, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			// It passes: too many files are open, or the client went away.
			report(fmt.Errorf("accepting a connection: %w", err))
			select {
			case <-ctx.Done():
			case <-time.After(acceptPause):
			}
			continue
		}
		go func() {
			defer client.Close()
			if err := connect(ctx, client, route); err != nil && ctx.Err() == nil {
				report(err)
			}
		}()
	}
}

func connect(ctx context.Context, client net.Conn, route Route) error {
	address, read, err := route(ctx, client)
	if err != nil {
		return fmt.Errorf("finding out where a connection leads: %w", err)
	}
	server, err := dial(ctx, address)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", address, err)
	}
	defer server.Close()
	if _, err := server.Write(read); err != nil {
		return fmt.Errorf("sending to %s: %w", address, err)
	}
	stop := context.AfterFunc(ctx, func() {
		client.Close()
		server.Close()
	})
	defer stop()
	var both sync.WaitGroup
	both.Go(func() { pump(server, client) })
	both.Go(func() { pump(client, server) })
	both.Wait()
	return nil
}

// dial tries all addresses of a name, so that a control plane with one dead machine still answers.
func dial(ctx context.Context, address string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	hosts, err := net.DefaultResolver.LookupHost(ctx, name)
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, host := range hosts {
		connection, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
		if err == nil {
			return connection, nil
		}
		failed = append(failed, err)
	}
	return nil, errors.Join(failed...)
}

// pump copies one direction, and passes on that nothing more comes.
func pump(to, from net.Conn) {
	// Whichever side broke, the other learns it by the end of its stream.
	_, _ = io.Copy(to, from)
	if half, ok := to.(*net.TCPConn); ok {
		_ = half.CloseWrite()
	}
}
