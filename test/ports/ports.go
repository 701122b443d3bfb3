// Package ports finds TCP and UDP ports for programs that must be told theirs before they start.
package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Linux draws the ports of outgoing connections from 32768 and above (ip_local_port_range), where a port that was free a moment ago
// is soon somebody's; these are below. Kubernetes' node ports begin at 30000.
const first, last = 20000, 29999

// Take returns a port of 127.0.0.1 on which nobody listens, by TCP or UDP. Until the test ends, no other test gets it,
// in this process or another.
func Take(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(first + rand.IntN(last-first+1))
		if err := take(t, port); err == nil {
			return port
		}
	}
	t.Fatalf("100 of the ports %d to %d are taken", first, last)
	return ""
}

// TakeAddress returns an address of 127.0.0.1 with a port as Take finds it.
func TakeAddress(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", Take(t))
}

// take reserves a port by the name of an abstract socket, which Linux drops with the process that has it.
func take(t *testing.T, port string) error {
	var listen net.ListenConfig
	reserved, err := listen.Listen(t.Context(), "unix", "@capmaas-test-port-"+port)
	if err != nil {
		return fmt.Errorf("reserve port %s: %w", port, err)
	}
	address := net.JoinHostPort("127.0.0.1", port)
	stream, err := listen.Listen(t.Context(), "tcp", address)
	if err == nil {
		err = stream.Close()
	}
	packet, other := listen.ListenPacket(t.Context(), "udp", address)
	if other == nil {
		other = packet.Close()
	}
	if err := errors.Join(err, other); err != nil {
		_ = reserved.Close()
		return fmt.Errorf("listen on port %s: %w", port, err)
	}
	t.Cleanup(func() { _ = reserved.Close() })
	return nil
}
