package v1beta1

import (
	"encoding/json"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Objects as the provider before this one stored them.
func TestStoredObjectsOfTheEarlierProviderDecode(t *testing.T) {
	t.Parallel()

	t.Run("a MaasCluster with failure domains as a map and conditions with a severity", func(t *testing.T) {
		t.Parallel()
		var cluster MaasCluster
		decode(t, &cluster, `{
			"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "MaasCluster", "metadata": {"name": "c1"},
			"spec": {"dnsDomain": "maas", "controlPlaneEndpoint": {"host": "c1-ab12cd.maas", "port": 6443},
				"failureDomains": ["z2", "z1"], "lxdConfig": {"enabled": true, "storageSize": "50"}},
			"status": {"ready": true, "network": {"dnsName": "c1-ab12cd.maas"},
				"failureDomains": {"z2": {"controlPlane": true}, "z1": {"controlPlane": true, "attributes": {"rack": "one"}}},
				"conditions": [{"type": "LoadBalancerReady", "status": "False", "severity": "Info",
					"lastTransitionTime": "2024-01-02T03:04:05Z", "reason": "WaitForDNSName", "message": ""}]}}`)

		domains := cluster.Status.FailureDomains
		if len(domains) != 2 || domains[0].Name != "z1" || domains[1].Name != "z2" {
			t.Fatalf("failure domains are not a list sorted by name: %+v", domains)
		}
		if domains[0].ControlPlane == nil || !*domains[0].ControlPlane || domains[0].Attributes["rack"] != "one" {
			t.Errorf("failure domain z1 lost what it says: %+v", domains[0])
		}
		if cluster.Spec.LXDConfig == nil {
			t.Error("lxdConfig was not kept")
		}
		if len(cluster.Status.Conditions) != 1 || cluster.Status.Conditions[0].Reason != "WaitForDNSName" {
			t.Errorf("conditions: %+v", cluster.Status.Conditions)
		}
	})

	t.Run("a MaasCluster whose endpoint is not known yet", func(t *testing.T) {
		t.Parallel()
		var cluster MaasCluster
		decode(t, &cluster, `{"spec": {"dnsDomain": "maas", "controlPlaneEndpoint": {"host": "", "port": 0}}}`)
		if cluster.Spec.ControlPlaneEndpoint != (APIEndpoint{}) {
			t.Errorf("the endpoint is not empty: %+v", cluster.Spec.ControlPlaneEndpoint)
		}
	})

	t.Run("a MaasMachine with LXD fields", func(t *testing.T) {
		t.Parallel()
		var machine MaasMachine
		decode(t, &machine, `{
			"spec": {"failureDomain": "z1", "systemID": "4y3h7n", "parent": "abc123", "providerID": "maas:///z1/4y3h7n",
				"resourcePool": "p1", "minCPU": 4, "minMemory": 8192, "minDiskSize": 60, "tags": ["ssd"], "image": "custom/u-2204",
				"deployInMemory": false, "lxd": {"enabled": true, "vmConfig": {"interfaceLinkModes": {"eth0": "static"}}}},
			"status": {"ready": true, "machineState": "Deployed", "machinePowered": true, "hostname": "node-1", "dnsAttached": true,
				"failureReason": "UpdateError", "failureMessage": "gone"}}`)
		spec := machine.Spec
		if spec.SystemID != "4y3h7n" || spec.ProviderID != "maas:///z1/4y3h7n" || spec.MinCPU != 4 || spec.MinMemory != 8192 ||
			spec.MinDiskSize != 60 || spec.Image != "custom/u-2204" || spec.LXD == nil || spec.Parent != "abc123" {
			t.Errorf("spec: %+v", spec)
		}
		if machine.Status.MachineState != "Deployed" || machine.Status.Hostname != "node-1" {
			t.Errorf("status: %+v", machine.Status)
		}
	})
}

func TestFailureDomainsKeepTheirOrderAsAList(t *testing.T) {
	t.Parallel()
	var domains FailureDomains
	decode(t, &domains, `[{"name": "z2", "controlPlane": true}, {"name": "z1"}]`)
	if len(domains) != 2 || domains[0].Name != "z2" || domains[1].Name != "z1" {
		t.Fatalf("%+v", domains)
	}
	encoded, err := json.Marshal(FailureDomains{{Name: "z1"}})
	if err != nil {
		t.Fatal(err)
	}
	var list []clusterv1.FailureDomain
	decode(t, &list, string(encoded))
}

func decode(t *testing.T, into any, text string) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("decoding: %v", err)
	}
}
