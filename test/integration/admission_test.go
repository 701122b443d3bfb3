package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/test/apiserver"
)

// kubectl runs kubectl as a user in the namespace, and returns all that it says.
func kubectl(t *testing.T, namespace, stdin string, args ...string) string {
	t.Helper()
	program, err := apiserver.Program(checkout, "kubectl")
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, suite.kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program,
		append([]string{"--kubeconfig", kubeconfig, "--namespace", namespace}, args...)...)
	command.Stdin = strings.NewReader(stdin)
	out, _ := command.CombinedOutput() // whether it succeeded stands in its last line too
	return strings.TrimSpace(string(out))
}

// What people see who write what cannot be.
func TestIllegalObjectsAreRefusedWithTheField(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	head := func(kind string) string {
		return "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: " + kind + "\nmetadata: {name: x}\n"
	}
	for name, test := range map[string]struct{ manifest, want string }{
		"a cluster in a domain with a last dot": {head("MaasCluster") + "spec: {dnsDomain: maas.}",
			`The MaasCluster "x" is invalid: spec.dnsDomain: Invalid value: "maas.": must be written without the dot at its end`},
		"a cluster with an address for a name": {head("MaasCluster") +
			"spec: {dnsDomain: maas, controlPlaneEndpointKind: MaasDNS, controlPlaneEndpoint: {host: 192.0.2.1, port: 6443}}",
			`spec.controlPlaneEndpoint.host: Invalid value: "192.0.2.1": is an address, and the endpoint's kind is MaasDNS`},
		"a cluster of LXD hosts": {head("MaasCluster") + "spec: {dnsDomain: maas, lxdConfig: {enabled: true}}",
			"spec.lxdConfig: Forbidden: LXD hosts are not supported by this provider: remove the field"},
		"a machine with a wrong image": {head("MaasMachine") + "spec: {image: custom/my image}",
			`The MaasMachine "x" is invalid: spec.image: Invalid value: "custom/my image": must be the name of an image in MAAS`},
		"a machine in LXD": {head("MaasMachine") + "spec: {image: custom/kube, lxd: {enabled: true}}",
			"spec.lxd: Forbidden: LXD virtual machines are not made by this provider"},
		"a machine with interfaces that MAAS would ignore": {head("MaasMachine") + "spec: {image: custom/kube, interfaces: eth0}",
			`spec.interfaces: Invalid value: "eth0": must be interfaces as MAAS writes them`},
		"a template with tags in one word": {head("MaasMachineTemplate") + `spec: {template: {spec: {image: custom/kube, tags: ["gpu,nvme"]}}}`,
			`spec.template.spec.tags[0]: Invalid value: "gpu,nvme": must be one tag; list each tag by itself`},
		"a template with a claim": {head("MaasMachineTemplate") +
			"spec: {template: {metadata: {annotations: {infrastructure.cluster.x-k8s.io/maas-claim: t}}, spec: {image: custom/kube}}}",
			"spec.template.metadata.annotations[infrastructure.cluster.x-k8s.io/maas-claim]: Forbidden: belongs to one machine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := kubectl(t, namespace, test.manifest, "create", "-f", "-")
			if !strings.Contains(said, test.want) || strings.Contains(said, "\n") {
				t.Errorf("kubectl says\n\t%s\nwant one line with\n\t%s", said, test.want)
			}
		})
	}
}

func TestWhatAMachineIsCannotBeChanged(t *testing.T) {
	l := newLab(t, hardware("m-1"))
	l.startManager()
	l.createCluster(nil)
	l.provisionedCluster()
	l.createMachine("w-1", false)
	machine := l.provisionedMachine("w-1")
	for patch, want := range map[string]string{
		`{"spec": {"image": "custom/other"}}`: "spec.image: Forbidden: cannot be changed",
		`{"spec": {"systemID": "abcdef"}}`:    `spec.systemID: Forbidden: is "` + machine.Spec.SystemID + `", and cannot be changed or removed`,
		`{"spec": {"providerID": null}}`:      `spec.providerID: Forbidden: is "` + machine.Spec.ProviderID + `", and cannot be changed or removed`,
		`{"metadata": {"annotations": {"infrastructure.cluster.x-k8s.io/maas-claim": null}}}`: "metadata.annotations[infrastructure.cluster.x-k8s.io/maas-claim]: " +
			"Forbidden: cannot be changed or removed",
	} {
		said := kubectl(t, l.namespace, "", "patch", "maasmachine", "w-1", "--type", "merge", "--patch", patch)
		l.Expect(said).To(gomega.ContainSubstring(want))
	}
	for patch, want := range map[string]string{
		`{"spec": {"dnsDomain": "other"}}`:                          `spec.dnsDomain: Forbidden: cannot be changed: the name of the control plane is in "maas"`,
		`{"spec": {"controlPlaneEndpointKind": "External"}}`:        "spec.controlPlaneEndpointKind: Forbidden: cannot be changed: it is MaasDNS",
		`{"spec": {"controlPlaneEndpoint": {"host": "a.maas"}}}`:    "spec.controlPlaneEndpoint.host: Forbidden: cannot be changed once it is set",
		`{"spec": {"controlPlaneEndpoint": null}}`:                  "spec.controlPlaneEndpoint.host: Forbidden: cannot be changed once it is set",
		`{"spec": {"failureDomains": ["default", "no such zone"]}}`: "patched",
	} {
		said := kubectl(t, l.namespace, "", "patch", "maascluster", clusterName, "--type", "merge", "--patch", patch)
		l.Expect(said).To(gomega.ContainSubstring(want))
	}
	// On the way out nothing is held up.
	l.deleteMachine("w-1")
	l.Expect(l.Delete(t.Context(), l.maasCluster())).To(gomega.Succeed())
	l.expectGone(clusterName, &infrav1.MaasCluster{})
	l.expectNothingLeft()
}

func TestObjectsOnTheirWayOutTakeAnyChange(t *testing.T) {
	t.Parallel()
	g, namespace := gomega.NewWithT(t), newNamespace(t)
	machine := &infrav1.MaasMachine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "m", Finalizers: []string{infrav1.MachineFinalizer},
			Annotations: map[string]string{infrav1.ClaimAnnotation: "t0ken"},
		},
		Spec: infrav1.MaasMachineSpec{Image: "custom/kube", SystemID: "abcdef", ProviderID: "maas:///default/abcdef"},
	}
	g.Expect(suite.client.Create(t.Context(), machine)).To(gomega.Succeed())
	g.Expect(suite.client.Delete(t.Context(), machine)).To(gomega.Succeed())
	before := machine.DeepCopy()
	machine.Spec.Image, machine.Spec.SystemID, machine.Annotations = "a b", "", nil
	g.Expect(suite.client.Patch(t.Context(), machine, client.MergeFrom(before))).To(gomega.Succeed())
	// As `clusterctl move` ends what it moved away.
	g.Expect(suite.client.Patch(t.Context(), machine, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":[]}}`)))).
		To(gomega.Succeed())
	g.Eventually(func() error { return suite.client.Get(t.Context(), client.ObjectKeyFromObject(machine), machine) }).
		Should(gomega.MatchError(gomega.ContainSubstring("not found")))
}

// Cluster API's topology controller learns by a dry run that it has to make another template; refused, it would be stuck.
func TestTopologysDryRunMayChangeATemplate(t *testing.T) {
	t.Parallel()
	g, namespace := gomega.NewWithT(t), newNamespace(t)
	template := &infrav1.MaasMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "t"}}
	template.Spec.Template.Spec.Image = "custom/kube"
	g.Expect(suite.client.Create(t.Context(), template)).To(gomega.Succeed())
	const refused = "spec.template.spec.image: Forbidden: cannot be changed: machines may have been made by it"
	change := func(annotations map[string]string, options ...client.PatchOption) error {
		changed := template.DeepCopy()
		changed.Annotations = annotations
		changed.Spec.Template.Spec.Image = "custom/other"
		return suite.client.Patch(t.Context(), changed, client.MergeFrom(template), options...)
	}
	topology := map[string]string{clusterv1.TopologyDryRunAnnotation: ""}
	g.Expect(change(topology, client.DryRunAll)).To(gomega.Succeed())
	g.Expect(change(topology)).To(gomega.MatchError(gomega.ContainSubstring(refused)), "not a dry run")
	g.Expect(change(nil, client.DryRunAll)).To(gomega.MatchError(gomega.ContainSubstring(refused)), "not of the topology controller")
	g.Expect(suite.client.Get(t.Context(), client.ObjectKeyFromObject(template), template)).To(gomega.Succeed())
	g.Expect(template.Spec.Template.Spec.Image).To(gomega.Equal("custom/kube"))
}

func TestBadValuesOfAnEarlierProviderAreNoObstacle(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	moved := newNamespace(t)
	for _, document := range documents(staleObjects) {
		stale := &unstructured.Unstructured{}
		g.Expect(yaml.Unmarshal([]byte(document), stale)).To(gomega.Succeed())
		kind := stale.GetKind()
		if kind == "Namespace" {
			continue
		}

		fresh := stale.DeepCopy()
		fresh.SetNamespace(moved)
		// The schema alone refuses a zone without a name.
		unstructured.RemoveNestedField(fresh.Object, "spec", "failureDomains")
		g.Expect(suite.client.Create(t.Context(), fresh.DeepCopy(), client.DryRunAll)).
			To(gomega.MatchError(gomega.ContainSubstring("denied the request")), "a new %s with these values", kind)

		// As `clusterctl move` and backups bring it.
		fresh.SetFinalizers([]string{map[string]string{
			"MaasCluster": infrav1.ClusterFinalizer, "MaasMachine": infrav1.MachineFinalizer, "MaasMachineTemplate": "example.com/any",
		}[kind]})
		fresh.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c1", UID: "1"}})
		g.Expect(suite.client.Create(t.Context(), fresh, client.DryRunAll)).To(gomega.Succeed(), "a %s that was moved", kind)

		g.Expect(suite.client.Get(t.Context(), client.ObjectKeyFromObject(stale), stale)).To(gomega.Succeed())
		before := stale.DeepCopy()
		stale.SetLabels(map[string]string{"seen": "today"})
		g.Expect(suite.client.Patch(t.Context(), stale, client.MergeFrom(before))).To(gomega.Succeed(), "a label on the stored %s", kind)
	}
	said := kubectl(t, "stale", "", "patch", "maasmachine", "x", "--type", "merge", "--patch", `{"spec": {"minCPU": 2}}`)
	g.Expect(said).To(gomega.ContainSubstring("spec.minCPU: Forbidden"), "what is changed is checked")
}

func TestDeletionIsNeverRefused(t *testing.T) {
	t.Parallel()
	g, namespace := gomega.NewWithT(t), newNamespace(t)
	cluster := &infrav1.MaasCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"}, Spec: infrav1.MaasClusterSpec{DNSDomain: "maas"},
	}
	g.Expect(suite.client.Create(t.Context(), cluster)).To(gomega.Succeed())
	g.Expect(suite.client.Delete(t.Context(), cluster)).To(gomega.Succeed())
}

// newNamespace makes a namespace that no provider works in.
func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "admission-"}}
	if err := suite.client.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}
