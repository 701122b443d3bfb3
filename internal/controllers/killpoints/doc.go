// Package killpoints kills the manager at every call that the life of a machine makes.
//
// A life is: the machine is claimed, deployed, kept (it joins the control plane's DNS record, its Node is linked, its power comes back),
// taken out of DNS and released; for a machine of the control plane also: the cluster's DNS record is made, and deleted in the end. Two
// more are those of a worker whose first installation does not end, and of one whose first installation and first erasing fail; in the end
// the tags of machines that failed are swept. They play
// against the MAAS simulator over HTTP and controller-runtime's fake client, in virtual time. A first run of each, in which nobody is
// killed, writes down every request to MAAS and every write to Kubernetes. For each of these, and each way in which it can go wrong, the
// life is lived once more, and struck once, there (TestKillPoints):
//
//   - before: the manager is killed, and the call does not happen;
//   - after: it happens, and the manager is killed before it hears of that;
//   - lost: it happens, the connection breaks, and the manager lives on;
//   - failed: it happens, and is answered with 503; a write to Kubernetes is refused and does not happen;
//   - late: the manager is killed while the call is on its way, which arrives just before the first write of the next manager, or to
//     Kubernetes after that one's first look;
//   - late-minute: the same, a minute later;
//   - before-deleted, after-deleted, late-deleted: the Machine and the MaasMachine are deleted just then too.
//
// In the first two lives, TestKilledTwice kills the next manager too, before or after each write with which it gets over a kill after a write to MAAS.
//
// Requests that only look change nothing: to be killed at one is to be killed after the write before it, and what is struck there is the
// answer. The status of an object is made anew, so a write of it is struck before and after alone. The two lives
// with a detour are struck at writes alone, and in fewer ways: blow_test.go has which.
//
// The manager that is killed takes everything with it that it remembers; the next one has what Kubernetes and MAAS hold. In bounded
// virtual time each life has to get where it was going, and at its end MAAS holds what it held before. Rules that hold all the time are
// in rules_test.go.
//
// Whether all this would find a bug is tried out: TestEveryMutationIsCaught gives the manager one after the other. README.md lists them.
//
// What can be called is found in the source: a method of package maas that our controllers use and no life calls fails a test,
// unless it is in a list there with the reason. (TestEveryCallIsInALife)
package killpoints
