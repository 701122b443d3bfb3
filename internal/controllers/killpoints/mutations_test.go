package killpoints

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mutation is a bug. It sits at an edge of the manager that these tests own: between it and MAAS, or between it and Kubernetes. The
// manager itself has no switch for it.
type mutation struct {
	bug string
	// maas and kubernetes are what each manager gets in place of what they are given; nil changes nothing. What they remember dies with
	// the manager.
	maas       func(http.RoundTripper) http.RoundTripper
	kubernetes func(client.WithWatch) client.WithWatch
	// The bug shows in the life of this role: struck at calls of this name in these ways, or, without a name, by itself.
	role role
	near string
	ways []way
	// breaks is how what catches it begins.
	breaks string
}

func (m mutation) toMAAS(network http.RoundTripper) http.RoundTripper {
	if m.maas == nil {
		return network
	}
	return m.maas(network)
}

func (m mutation) toKubernetes(stored client.WithWatch) client.WithWatch {
	if m.kubernetes == nil {
		return stored
	}
	return m.kubernetes(stored)
}

// mutations are listed in README.md, in this order, with what each would do to a user.
func mutations() []mutation {
	return []mutation{
		{
			bug: "skips the ownership read", maas: actsOnTheSharedView, role: worker,
			breaks: "a rule was broken: machine power-on aaaaa1: the machine was not read in the same reconcile",
		},
		{
			bug: "never looks for the claim", maas: neverLooksForTheClaim, role: worker,
			breaks: "a rule was broken: machines allocate: the machines with the claim were not listed in the same reconcile",
		},
		{
			bug: "looks for the claim in vain", maas: looksForTheClaimInVain, role: worker, near: "machines-allocate", ways: []way{after, lost},
			breaks: "a rule was broken: machines allocate: aaaaa1 is ours already",
		},
		{
			bug: "takes every machine of its user for its own", maas: looksForAnyClaim, role: worker,
			breaks: "a rule was broken: machine set-workload-annotations bbbbb2: the machine is not ours",
		},
		{
			bug: "allocates without the claim", maas: withoutField("POST machines/ allocate", "agent_name"), role: worker,
			breaks: "a rule was broken: machines allocate: the machines with the claim were not listed",
		},
		{
			bug: "claims anew after a start", kubernetes: claimsAnewAfterAStart, role: worker, near: "machines-allocate", ways: []way{after},
			breaks: "a rule was broken: machines allocate: aaaaa1 is ours already",
		},
		{
			bug: "writes no attempt", kubernetes: patching(writesNoAttempt), role: worker,
			breaks: "a rule was broken: machines allocate aaaaa1: it is not written down as an attempt",
		},
		{
			bug: "blocks no move", kubernetes: patching(blocksNoMove), role: worker,
			breaks: "a rule was broken: machines allocate aaaaa1: a move of the object is not blocked",
		},
		{
			bug: "repeats a POST", maas: repeatsPosts, role: worker, near: "machines-allocate", ways: []way{lost, failed},
			breaks: "a rule was broken: machines allocate: aaaaa1 is ours already",
		},
		{
			bug: "never stores the machine", kubernetes: patching(neverStoresTheMachine), role: worker,
			breaks: "a rule was broken: machine deploy aaaaa1: the object has the machine \"\"",
		},
		{
			bug: "writes over a newer object", kubernetes: patching(writesOverNewer), role: worker, near: "kubernetes-patch-MaasMachine", ways: []way{late},
			breaks: "a machine is claimed and deployed: not within",
		},
		{
			bug: "claims without a finalizer", kubernetes: reading(takesTheFinalizerForStored), role: worker,
			breaks: "a rule was broken: after a look: the object is gone, and aaaaa1 is ours and Deployed",
		},
		{
			bug: "never marks the machine", maas: neverMarks, role: worker,
			breaks: "ready, but the machine is",
		},
		{
			bug: "deploys without the bootstrap data", maas: withoutField("POST machines/ deploy", "user_data"), role: worker,
			breaks: "a rule was broken: machine deploy aaaaa1: the bootstrap data is missing",
		},
		{
			bug: "releases before it leaves DNS", maas: releasesBeforeItLeavesDNS, role: controlPlane, near: "machine-power-on", ways: []way{afterDeleted},
			breaks: "a rule was broken: machine release: its address",
		},
		{
			bug: "compares DNS with a memory", maas: comparesDNSWithAMemory, role: controlPlane,
			breaks: "a rule was broken: dnsresource update: the record was not read in the same reconcile",
		},
		{
			bug: "empties DNS by observation", kubernetes: seesNoMachines, role: controlPlane,
			breaks: "a rule was broken: after dnsresource update : the control plane's record is empty, and nobody left",
		},
		{
			bug: "takes an accepted release for done", maas: takesAnAcceptedReleaseForDone, role: worker,
			breaks: "a rule was broken: after a look: the object is gone, and aaaaa1 is ours and Releasing",
		},
		{
			bug: "forgets to erase the disks", maas: withoutField("POST machines/ release", "erase"), role: unlucky,
			breaks: "a rule was broken: machine release: its disks are not erased",
		},
		{
			bug: "never tags the machine that failed", maas: neverTags, role: stuck,
			breaks: "a rule was broken: machine release: its deployment failed, and it has no tag that says so",
		},
	}
}

// TestEveryMutationIsCaught gives the managers one bug after the other, and looks whether lives fail by it as they should.
func TestEveryMutationIsCaught(t *testing.T) {
	t.Parallel()
	for _, m := range mutations() {
		t.Run(strings.ReplaceAll(m.bug, " ", "-"), func(t *testing.T) {
			t.Parallel()
			blows := m.blows(t)
			for _, b := range blows {
				v := judged(func(j judge) {
					w := newMutant(j, m.role, b, m)
					defer w.close()
					w.live()
				})
				if !v.Failed() {
					continue
				}
				if i := slices.IndexFunc(v.failures, func(f string) bool { return strings.HasPrefix(f, m.breaks) }); i >= 0 {
					t.Logf("the life of a %s %s fails: %s", m.role, b, v.failures[i])
				} else {
					t.Errorf("the life of a %s %s fails, but not by %q: %s", m.role, b, m.breaks, strings.Join(v.failures, "\n"))
				}
				return
			}
			t.Errorf("%d lives of a %s go well in spite of that: the rules have a hole", len(blows), m.role)
		})
	}
}

// TestThePageListsEveryMutation reads README.md.
func TestThePageListsEveryMutation(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "|---|---|---|---|\n")
	var listed, known []string
	for row := range strings.Lines(table) {
		bug, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		listed = append(listed, bug)
	}
	for _, m := range mutations() {
		known = append(known, m.bug)
	}
	if !slices.Equal(listed, known) {
		t.Errorf("README.md lists\n%s\nand mutations()\n%s", strings.Join(listed, "\n"), strings.Join(known, "\n"))
	}
}

// blows are those near which the bug shows.
func (m mutation) blows(t *testing.T) []blow {
	t.Helper()
	if m.near == "" {
		return []blow{{}}
	}
	var all []blow
	for _, p := range calls(t, m.role, blow{}) {
		for _, way := range m.ways {
			if p.name == m.near {
				all = append(all, blow{at: p, way: way})
			}
		}
	}
	return all
}

func (b blow) String() string {
	switch {
	case b.way == "":
		return "that nothing strikes"
	case b.againWay == "":
		return fmt.Sprintf("struck at %s, %s", b.at, b.way)
	}
	return fmt.Sprintf("struck at %s, %s, and at %s, %s", b.at, b.way, b.again, b.againWay)
}
