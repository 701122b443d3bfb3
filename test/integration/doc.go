// Package integration holds the tests of the whole provider against a real kube-apiserver and the MAAS simulator over HTTP. The
// tests play Cluster API, as far as its contract goes. There is no code but tests.
package integration
