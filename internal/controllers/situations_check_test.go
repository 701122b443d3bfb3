package controllers_test

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// checkSituations: MAAS works, and lacks what the cluster's objects name.
func checkSituations() []situation {
	return []situation{
		{
			name:    "MAAS does not have the image that a template names",
			wrong:   template(func(m *infrav1.MaasMachineSpec) { m.Image = "custom/u-2204" }),
			on:      cluster,
			shows:   "ImagesFound=False ImageNotFound",
			message: "MAAS maas.example.com has no image custom/u-2204, which spec.template.spec.image of MaasMachineTemplate default/prod-workers asks for: upload it, or name another one in a new MaasMachineTemplate",
			ready:   saysSo,
			event:   "CheckFailed",
			do:      "Upload the image to MAAS, or name one that MAAS has in a new MaasMachineTemplate.",
		},
		{
			name:    "A template names an image of MAAS's own without its operating system",
			wrong:   template(func(m *infrav1.MaasMachineSpec) { m.Image = "jammy" }),
			on:      cluster,
			shows:   "ImagesFound=False ImageNotFound",
			message: "MAAS maas.example.com has no image custom/jammy, which \"jammy\" in spec.template.spec.image of MaasMachineTemplate default/prod-workers means: upload it, or name ubuntu/jammy in a new MaasMachineTemplate",
			ready:   saysSo,
			event:   "CheckFailed",
			do:      "Name `ubuntu/jammy`: a bare name is that of an image which you uploaded.",
		},
		{
			name:    "MAAS has the image for another architecture than a template asks for",
			wrong:   template(func(m *infrav1.MaasMachineSpec) { m.Architecture = "arm64" }),
			on:      cluster,
			shows:   "ImagesFound=False ImageNotFound",
			message: "MAAS maas.example.com has no image custom/u-2404 for arm64 (only for amd64), which spec.template.spec.image of MaasMachineTemplate default/prod-workers asks for: upload it, or name another one in a new MaasMachineTemplate",
			ready:   saysSo,
			event:   "CheckFailed",
			do:      "Upload the image for that architecture too.",
		},
		{
			name:    "MAAS has neither the image nor the resource pool that a template names",
			wrong:   template(func(m *infrav1.MaasMachineSpec) { m.Image, m.ResourcePool = "custom/u-2204", "wrokers" }),
			on:      cluster,
			shows:   "ZonesAndPoolsFound=False PoolNotFound",
			message: "MAAS maas.example.com has no resource pool \"wrokers\", which spec.template.spec.resourcePool of MaasMachineTemplate default/prod-workers asks for: make it in MAAS, or name another one in a new MaasMachineTemplate",
			ready:   saysSo,
			event:   "CheckFailed",
			others: []string{
				"prod CheckFailed: MAAS maas.example.com has no image custom/u-2204, which spec.template.spec.image of MaasMachineTemplate default/prod-workers asks for: upload it, or name another one in a new MaasMachineTemplate",
			},
			do: "Correct both in a new MaasMachineTemplate: each stands in a condition of its own.",
		},
		{
			name:    "A template asks for a resource pool that MAAS does not have",
			wrong:   template(func(m *infrav1.MaasMachineSpec) { m.ResourcePool = "wrokers" }),
			on:      cluster,
			shows:   "ZonesAndPoolsFound=False PoolNotFound",
			message: "MAAS maas.example.com has no resource pool \"wrokers\", which spec.template.spec.resourcePool of MaasMachineTemplate default/prod-workers asks for: make it in MAAS, or name another one in a new MaasMachineTemplate",
			ready:   saysSo,
			event:   "CheckFailed",
			do:      "Correct the name in a new MaasMachineTemplate, or make the pool in MAAS.",
		},
		{
			name: "The MaasCluster lists a zone that MAAS does not have",
			wrong: func(w *world) {
				edit(w, &infrav1.MaasCluster{}, cluster, func(c *infrav1.MaasCluster) { c.Spec.FailureDomains = []string{"rack1", "rack9"} })
			},
			on:      cluster,
			shows:   "ZonesAndPoolsFound=False ZoneNotFound",
			message: "MAAS maas.example.com has no zone \"rack9\", which spec.failureDomains of this MaasCluster asks for: make it in MAAS, or name another one there",
			ready:   saysSo,
			event:   "CheckFailed",
			do:      "Correct `spec.failureDomains` of the MaasCluster, or make the zone in MAAS.",
			mend: func(w *world) {
				edit(w, &infrav1.MaasCluster{}, cluster, func(c *infrav1.MaasCluster) { c.Spec.FailureDomains = []string{"rack1"} })
			},
		},
		{
			name: "The DNS domain lost its authority while the cluster ran",
			wrong: func(w *world) {
				w.stands()
				w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
					if r.Method == "GET" && r.Path == "/MAAS/api/2.0/domains/" {
						return simulator.Fault{Status: 200, ContentType: "application/json", Body: `[{"id": 0, "name": "maas", "authoritative": false, "ttl": null}]`}
					}
					return simulator.Fault{}
				})
			},
			on:      cluster,
			after:   15 * time.Minute,
			shows:   "DomainServed=False DomainNotAuthoritative",
			message: "MAAS maas.example.com is not authoritative for the DNS domain \"maas\", so nobody can resolve the DNS record of the control plane: make it authoritative in MAAS, unless another DNS server serves this domain; then use another dnsDomain",
			ready:   saysSo,
			event:   "CheckFailed",
			do:      "Make the domain authoritative in MAAS again, unless another DNS server serves it by now: then a new cluster with another `dnsDomain` is needed, for it cannot be changed. Until then nobody finds the control plane by its name.",
			mend:    (*world).heals,
		},
		{
			name: "The management cluster does not resolve names of MAAS's domain",
			wrong: func(w *world) {
				w.deaf = true
				w.runs(controller)
			},
			on:      cluster,
			shows:   "EndpointResolves=False EndpointNotResolved",
			message: "the name prod-abc123.maas cannot be resolved in the management cluster (there is no such name): let the DNS servers of the management cluster forward the domain maas to MAAS",
			ready:   saysSo,
			event:   "CheckFailed",
			do:      "Let the resolver of the management cluster (CoreDNS, or that of its hosts) forward the domain to MAAS's DNS server.",
			mend:    func(w *world) { w.deaf = false },
		},
		{
			name: "The management cluster resolves the control plane's name to another address",
			wrong: func(w *world) {
				w.hosts = []string{"192.0.2.7"}
				w.runs(controller)
			},
			on:      cluster,
			shows:   "EndpointResolves=False EndpointResolvesElsewhere",
			message: "in the management cluster prod-abc123.maas leads to 192.0.2.7, but in MAAS its addresses are 10.20.0.3: look which DNS server answers for prod-abc123.maas there",
			ready:   saysSo,
			event:   "CheckFailed",
			do:      "Look for another record of that name, in another DNS server or in `/etc/hosts`, and remove it.",
			mend:    func(w *world) { w.hosts = nil },
		},
		{
			name: "The name of an endpoint of the user's own does not resolve",
			wrong: func(w *world) {
				external(infrav1.APIEndpoint{Host: "prod.example.com", Port: 6443})(w)
			},
			on:      cluster,
			shows:   "EndpointResolves=False EndpointNotResolved",
			message: "the name prod.example.com cannot be resolved in the management cluster (there is no such name): make it known to the DNS servers that the management cluster uses",
			ready:   saysSo,
			event:   "CheckFailed",
			do:      "Make a DNS record for it, or let the resolver of the management cluster ask the DNS server that has it.",
			mend:    func(w *world) { w.hosts = []string{"192.0.2.7"} },
		},
	}
}

// templateSituations: nobody knows what Nodes of a template will offer, so that the cluster autoscaler cannot scale up from zero.
func templateSituations() []situation {
	return []situation{
		{
			name:    "No machine in MAAS is of the kind that a template asks for",
			wrong:   template(func(m *infrav1.MaasMachineSpec) { m.Tags = []string{"gpu"} }),
			on:      workers,
			shows:   "CapacityKnown=False NoSuitableMachine",
			message: "no machine in MAAS maas.example.com fits: none of 3 machines has tag \"gpu\": give the tag to a machine, or drop it in a new MaasMachineTemplate",
			do:      "Add such machines to MAAS, or give some the tag. For the autoscaler it is enough to set `minCPU`, `minMemory`, `minDiskSize` and `architecture`.",
		},
		{
			name:    "The machines that fit a template are of two architectures",
			region:  func(c *simulator.Config) { c.Machines[1].Architecture = "arm64/generic" },
			wrong:   template(func(*infrav1.MaasMachineSpec) {}),
			on:      workers,
			shows:   "CapacityKnown=False ArchitectureUnknown",
			message: "machines of the architectures amd64 and arm64 in MAAS maas.example.com fit, so the autoscaler assumes amd64: set spec.template.spec.architecture in a new MaasMachineTemplate",
			do:      "Set `architecture` in another MaasMachineTemplate.",
		},
		{
			name: "MAAS is away while a template is made",
			wrong: func(w *world) {
				w.stands()
				w.network.breaks()
				template(func(*infrav1.MaasMachineSpec) {})(w)
			},
			on:      workers,
			shows:   "CapacityKnown=Unknown MAASUnreachable",
			message: "MAAS maas.example.com is not available (cannot connect: connection refused): look whether MAAS runs, and whether the management cluster reaches it",
			others: []string{
				"prod MAASUnavailable: MAAS maas.example.com is not available (cannot connect: connection refused): look whether MAAS runs, and whether the management cluster reaches it",
			},
			passes: true,
			do:     "Bring MAAS back, or the network to it. It is looked again by itself.",
			mend:   (*world).heals,
		},
	}
}

// template adds a template of the cluster's.
func template(change func(*infrav1.MaasMachineSpec)) func(*world) {
	return func(w *world) {
		object := &infrav1.MaasMachineTemplate{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: workers, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: cluster, UID: "cluster"}},
		}}
		object.Spec.Template.Spec.Image = "custom/u-2404"
		change(&object.Spec.Template.Spec)
		w.must(w.client.Create(context.Background(), object))
	}
}
