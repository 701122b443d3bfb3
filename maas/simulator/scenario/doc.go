// Package scenario scripts what goes wrong in a simulated MAAS region: requests
// whose answers get lost, hardware that fails, operators who take machines, a
// region that goes away.
//
// A Scenario is written in YAML or JSON and read by Parse, or made in Go. Start
// plays it against a region; the Running that it returns tells which fault
// struck how often, and takes more faults. Control serves the same over HTTP.
// Words lists what a fault can do.
package scenario
