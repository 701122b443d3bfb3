package controllers_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func (w *world) clusterObject() *clusterv1.Cluster {
	return &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: cluster, UID: "cluster"},
		Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{
			APIGroup: infrav1.GroupVersion.Group, Kind: "MaasCluster", Name: cluster,
		}},
	}
}

// maasClusterObject has its endpoint chosen, for the name would be random.
func (w *world) maasClusterObject() *infrav1.MaasCluster {
	return &infrav1.MaasCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: cluster, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster},
			Annotations: map[string]string{infrav1.EndpointMarkAnnotation: "mark"},
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: cluster, UID: "cluster"},
			},
		},
		Spec: infrav1.MaasClusterSpec{
			DNSDomain: "maas", ControlPlaneEndpointKind: infrav1.EndpointMaasDNS,
			ControlPlaneEndpoint: infrav1.APIEndpoint{Host: host, Port: 6443},
		},
	}
}

// add makes a Machine, its bootstrap data and its MaasMachine, all of one name.
func (w *world) add(name string, change ...func(*infrav1.MaasMachine)) {
	w.Helper()
	labels := map[string]string{clusterv1.ClusterNameLabel: cluster}
	if name == controller {
		labels[clusterv1.MachineControlPlaneLabel] = ""
	}
	data := name + "-bootstrap"
	object := &infrav1.MaasMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: name, UID: "uid"},
		}},
		Spec: infrav1.MaasMachineSpec{Image: "custom/u-2404"},
	}
	for _, c := range change {
		c(object)
	}
	for _, o := range []client.Object{
		&clusterv1.Machine{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels, UID: "uid"},
			Spec: clusterv1.MachineSpec{ClusterName: cluster, Bootstrap: clusterv1.Bootstrap{
				DataSecretName: &data,
				ConfigRef:      clusterv1.ContractVersionedObjectReference{APIGroup: "bootstrap.cluster.x-k8s.io", Kind: "KubeadmConfig", Name: name},
			}},
		},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: data}, Data: map[string][]byte{
			"value": []byte(userData), "format": []byte("cloud-config"),
		}},
		object,
	} {
		w.must(w.client.Create(context.Background(), o))
	}
}

// adds is add, for situations in which that is all.
func adds(name string, change ...func(*infrav1.MaasMachine)) func(*world) {
	return func(w *world) { w.add(name, change...) }
}

// stands waits until the cluster's infrastructure is ready.
func (w *world) stands() {
	w.Helper()
	w.until(func() bool {
		object := &clusterv1.Cluster{}
		w.must(w.client.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: cluster}, object))
		return object.Status.Initialization.InfrastructureProvisioned != nil
	})
}

// initialised lets the control plane have answered.
func (w *world) initialised() {
	w.Helper()
	object := &clusterv1.Cluster{}
	w.must(w.client.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: cluster}, object))
	yes := true
	object.Status.Initialization.ControlPlaneInitialized = &yes
	object.Status.Conditions = append(object.Status.Conditions, metav1.Condition{
		Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue, Reason: "Initialized",
	})
	w.must(w.client.Status().Update(context.Background(), object))
	w.reached = true
}

// runs adds a machine and lets it come to run.
func (w *world) runs(name string, change ...func(*infrav1.MaasMachine)) {
	w.Helper()
	w.add(name, change...)
	w.until(func() bool {
		p := w.get(name).Status.Initialization.Provisioned
		return p != nil && *p
	})
}

// installs adds a machine and waits until MAAS installs it.
func (w *world) installs(name string) {
	w.Helper()
	w.add(name)
	w.until(func() bool { return w.inMAAS(name).Status == simulator.StatusDeploying })
}

// badInstalls lets every installation fail.
func (w *world) badInstalls(reason string) {
	w.region.AddHardware(func(e simulator.HardwareEvent) simulator.Trouble {
		if e.Moment == simulator.MomentInstall {
			return simulator.Trouble{Fail: reason}
		}
		return simulator.Trouble{}
	})
}

// claims adds a machine that is claimed, and whose deployment MAAS does not hear of until the situation is made.
func (w *world) claims(name string, change ...func(*infrav1.MaasMachine)) {
	w.Helper()
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if r.Op == "deploy" {
			return simulator.Fault{Status: 504, ContentType: "text/html", Body: "<h1>Gateway Timeout</h1>"}
		}
		return simulator.Fault{}
	})
	w.add(name, change...)
	w.until(func() bool { return w.get(name).Spec.SystemID != "" })
	w.region.SetIntercept(nil)
}

// get reads a MaasMachine; it is empty once it is gone.
func (w *world) get(name string) *infrav1.MaasMachine {
	w.Helper()
	m := &infrav1.MaasMachine{}
	w.must(client.IgnoreNotFound(w.client.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, m)))
	return m
}

func (w *world) conditions(name string) []metav1.Condition {
	w.Helper()
	object := interface {
		client.Object
		GetConditions() []metav1.Condition
	}(&infrav1.MaasMachine{})
	switch name {
	case cluster:
		object = &infrav1.MaasCluster{}
	case workers:
		object = &infrav1.MaasMachineTemplate{}
	}
	w.must(client.IgnoreNotFound(w.client.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, object)))
	return object.GetConditions()
}

// edit changes an object as a user would.
func edit[T client.Object](w *world, object T, name string, change func(T)) {
	w.Helper()
	w.must(w.client.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, object))
	change(object)
	w.must(w.client.Update(context.Background(), object))
}

// clusterAPI does what Cluster API would: it tells the Cluster what its infrastructure says.
func (w *world) clusterAPI() {
	w.Helper()
	infra, object := &infrav1.MaasCluster{}, &clusterv1.Cluster{}
	key := client.ObjectKey{Namespace: namespace, Name: cluster}
	if w.client.Get(context.Background(), key, infra) != nil || w.client.Get(context.Background(), key, object) != nil {
		return
	}
	if p := infra.Status.Initialization.Provisioned; p != nil && *p && object.Status.Initialization.InfrastructureProvisioned == nil {
		object.Status.Initialization.InfrastructureProvisioned = p
		w.must(w.client.Status().Update(context.Background(), object))
	}
}

// delete deletes a machine as Cluster API does: the Machine first, which a finalizer of its own holds.
func (w *world) delete(name string) {
	w.Helper()
	w.deleteOwner(name)
	w.deleteOnly(name)
}

func (w *world) deleteOnly(name string) {
	w.Helper()
	w.must(w.client.Delete(context.Background(), w.get(name)))
}

func (w *world) deleteOwner(name string) {
	w.Helper()
	machine := &clusterv1.Machine{}
	edit(w, machine, name, func(m *clusterv1.Machine) { m.Finalizers = []string{clusterv1.MachineFinalizer} })
	w.must(w.client.Delete(context.Background(), machine))
}

// deleteCluster deletes the MaasCluster.
func (w *world) deleteCluster() {
	w.Helper()
	infra := &infrav1.MaasCluster{}
	w.must(w.client.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: cluster}, infra))
	w.must(w.client.Delete(context.Background(), infra))
}

// inMAAS finds the machine of an object in the region; it is empty while there is none.
func (w *world) inMAAS(name string) simulator.MachineSnapshot {
	w.Helper()
	for _, m := range w.region.Snapshot().Machines {
		if id := w.get(name).Spec.SystemID; m.SystemID == id && id != "" {
			return m
		}
	}
	return simulator.MachineSnapshot{}
}

// aborts ends a deployment as another administrator does.
func (w *world) aborts(systemID string) error {
	other, err := maas.New(maas.Config{Endpoint: w.endpoint, APIKey: secondKey, Now: w.now, Transport: w.network})
	if err != nil {
		return err
	}
	_, err = other.Abort(context.Background(), systemID, "I need it")
	return err
}

// marksBroken marks a machine broken as somebody does who is logged in to MAAS as its owner. MAAS releases it then.
func (w *world) marksBroken(systemID, comment string) error {
	body := url.Values{"comment": {comment}}.Encode()
	request, err := http.NewRequest(http.MethodPost, w.endpoint+"/api/2.0/machines/"+systemID+"/?op=mark_broken", strings.NewReader(body))
	if err != nil {
		return err
	}
	key := strings.Split(ourKey, ":")
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", fmt.Sprintf(
		`OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", oauth_consumer_key="%s", oauth_token="%s", oauth_signature="%%26%s", oauth_nonce="%d", oauth_timestamp="%d"`,
		key[0], key[1], key[2], w.clock.Now().UnixNano(), w.clock.Now().Unix()))
	answer, err := w.network.RoundTrip(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("mark broken: %s", answer.Status)
	}
	return nil
}

// node lets a Node register in the workload cluster, as kubelet does.
func (w *world) node(name, providerID string, addresses ...string) {
	w.Helper()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(w.clock.Now())},
		Spec:       corev1.NodeSpec{ProviderID: providerID},
	}
	for _, address := range addresses {
		node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: address})
	}
	if err := w.workload.Create(context.Background(), node); err != nil && !apierrors.IsAlreadyExists(err) {
		w.Fatal(err)
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}
