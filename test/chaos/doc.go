// Package chaos lives whole clusters at random, and replays each life exactly.
//
// A seed draws a world: a MAAS region, one or two management clusters, up to three workload clusters, and all that happens to them. Our
// reconcilers are called one at a time, in virtual time, against controller-runtime's fake client and the MAAS simulator; this package plays
// Cluster API, the kubelets, MAAS's operators, the network and the hardware. README.md says what is random, what is checked and how a
// seed is replayed.
package chaos
