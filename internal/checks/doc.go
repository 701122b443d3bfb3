// Package checks looks whether MAAS and its settings are such that clusters can be built: its version, our rights, the clocks, DNS
// domains, zones, resource pools, images, and whether the management cluster resolves the names that MAAS serves.
//
// One [Checks] serves all clusters of a MAAS. Each fact is asked for about every ten minutes, however many clusters need it; one in
// which something is missing, about every half minute while somebody asks, so that what a person mends is noticed soon. What the
// facts mean is decided by functions that do no I/O (judge*.go). Nothing here changes MAAS, and nothing waits for a check.
package checks
