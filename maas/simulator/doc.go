// Package simulator is a MAAS region in one process: its rules, REST API,
// metadata service, DNS server and clock. Programs written for MAAS work
// against it unchanged.
//
// Make a Region from a Config, then serve its Handler, or Start it on an
// address. Region.Snapshot tells what the region holds, Region.Requests what
// it was asked, and the Operator calls do what people and hardware do behind a
// client's back.
//
// Every operation of the API is one entry of the table in operations.go and
// one short function in the file of its resource. A request runs as one
// transaction: it changes all it wants to change, or, when it is refused,
// nothing. What MAAS does after the commit (addresses, power, boot) the
// simulator does after the commit too.
package simulator
