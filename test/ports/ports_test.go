package ports_test

import (
	"net"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/test/ports"
)

func TestAPortIsTakenOnce(t *testing.T) {
	seen := map[string]bool{}
	for range 500 {
		port := ports.Take(t)
		if seen[port] {
			t.Fatalf("port %s was given to two", port)
		}
		seen[port] = true
	}
}

func TestAPortCanBeListenedOn(t *testing.T) {
	listener, err := net.Listen("tcp", ports.TakeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
}
