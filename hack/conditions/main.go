// Command conditions writes docs/conditions.md from the Go code: the conditions and reasons of each kind from the docstrings in
// api/v1beta1/*_conditions.go, the columns from the markers in api/v1beta1/*_types.go, and the events from internal/telemetry. What a
// docstring must look like is told by whatever error its absence leads to. `make generate` runs it at the top of the repository.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: conditions FILE, at the top of the repository")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes the page into a file, or leaves that as it was.
func run(path string) error {
	found, err := read("api/v1beta1", "internal/telemetry/reasons.go", dirOfImport)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(write(found)), 0o644)
}
