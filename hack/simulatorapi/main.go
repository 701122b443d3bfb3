// Command simulatorapi writes docs/simulator-api.md: which operations of MAAS's API the simulator knows, which in part, and which not.
// `make generate` runs it at the top of the repository.
package main

import (
	"fmt"
	"os"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: simulatorapi FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], []byte(write(simulator.Operations(), simulator.NotModelled())), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
