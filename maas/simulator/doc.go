// Package simulator is a MAAS region in one process: its rules, REST API,
// metadata service, DNS server, faults and clock. Programs written for MAAS work
// against it unchanged.
//
// Make a Region from a Config, then serve its Handler, or Start it on an
// address. Region.Snapshot tells what the region holds, Region.Requests what
// it was asked.
//
// What goes wrong is asked for: an intercept (Config.Intercept, AddIntercept)
// returns a Fault for a request, hardware (Config.Hardware, AddHardware) a
// Trouble for a Moment of a machine's life. OperatorTake and its kin do what
// people do behind a client's back; SetAway, SetDNSView, ExhaustAddresses and
// LoseEvents change the whole region. Package scenario scripts all of these.
//
// Time is real, moved by hand (VirtualClock), or real with jumps
// (JumpingClock). How long things take is in Config.Durations and
// Config.Latency, or comes from a Profile. What is random is drawn from
// Config.Seed.
//
// Every operation of the API is registered beside the short function that
// carries it out, in the file of its resource; operations.go lists these files'
// registrations, and from them come routing, names and the page of what is
// modelled. A request runs as one transaction: it changes all it wants to
// change, or, when it is refused, nothing. What MAAS does after the commit
// (addresses, power, boot) the simulator does after the commit too.
package simulator
