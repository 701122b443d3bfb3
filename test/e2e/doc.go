// Package e2e makes, uses and deletes a real cluster in the sandbox. It needs root and what `sandbox build` makes; `make
// test-e2e` sees to both.
package e2e
