package maascluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
)

// observeWishes gathers what the cluster's objects ask MAAS for: those that a person wrote come first, for they are named to people.
func (r *Reconciler) observeWishes(
	ctx context.Context, object *infrav1.MaasCluster, machines []infrav1.MaasMachine, cluster string,
) (checks.Wishes, error) {
	templates, err := r.templatesOf(ctx, object.Namespace, cluster)
	if err != nil {
		return checks.Wishes{}, err
	}
	owners, err := r.ownersOf(ctx, object.Namespace, cluster)
	if err != nil {
		return checks.Wishes{}, err
	}
	return wishesOf(object, templates, machines, owners), nil
}

// templatesOf lists the templates of a cluster. Cluster API makes the Cluster an owner of those that are used.
func (r *Reconciler) templatesOf(ctx context.Context, namespace, cluster string) ([]infrav1.MaasMachineTemplate, error) {
	list := &infrav1.MaasMachineTemplateList{}
	if err := r.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list the cluster's MaasMachineTemplates: %w", err)
	}
	return slices.DeleteFunc(list.Items, func(t infrav1.MaasMachineTemplate) bool {
		return clusterName(&t) != cluster || !t.DeletionTimestamp.IsZero()
	}), nil
}

// ownersOf lists the Machines of a cluster by name.
func (r *Reconciler) ownersOf(ctx context.Context, namespace, cluster string) (map[string]clusterv1.Machine, error) {
	list := &clusterv1.MachineList{}
	err := r.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster})
	if err != nil {
		return nil, fmt.Errorf("list the cluster's Machines: %w", err)
	}
	owners := map[string]clusterv1.Machine{}
	for _, machine := range list.Items {
		owners[machine.Name] = machine
	}
	return owners, nil
}

// wishesOf says what is asked of MAAS, and by which field of which object.
func wishesOf(
	object *infrav1.MaasCluster, templates []infrav1.MaasMachineTemplate, machines []infrav1.MaasMachine, owners map[string]clusterv1.Machine,
) checks.Wishes {
	var w checks.Wishes
	if endpoint.KindOf(object) == infrav1.EndpointMaasDNS {
		w.Domain = object.Spec.DNSDomain
		if record, ok := endpoint.RecordOf(object); ok {
			w.Domain = record.Domain
		}
	}
	for _, zone := range object.Spec.FailureDomains {
		w.Zones = append(w.Zones, checks.Wish{Name: zone, By: "spec.failureDomains of this MaasCluster", In: "there"})
	}
	slices.SortFunc(templates, func(a, b infrav1.MaasMachineTemplate) int { return strings.Compare(a.Name, b.Name) })
	for i := range templates {
		addWishes(&w, templates[i].Spec.Template.Spec, "spec.template.spec.", "MaasMachineTemplate "+nameOf(&templates[i]))
	}
	slices.SortFunc(machines, func(a, b infrav1.MaasMachine) int { return strings.Compare(a.Name, b.Name) })
	for i := range machines {
		machine := &machines[i]
		if !machine.DeletionTimestamp.IsZero() || isProvisioned(machine) {
			continue // it asks for nothing more
		}
		spec := machine.Spec
		if owner, ok := owners[ownerMachine(machine)]; ok && owner.Spec.FailureDomain != "" {
			spec.FailureDomain = ""
			w.Zones = append(w.Zones, checks.Wish{Name: owner.Spec.FailureDomain, By: "spec.failureDomain of Machine " + nameOf(&owner), In: "in its MachineDeployment"})
		}
		addWishes(&w, spec, "spec.", "MaasMachine "+nameOf(machine))
	}
	return w
}

func addWishes(w *checks.Wishes, spec infrav1.MaasMachineSpec, path, object string) {
	wish := func(name, field string) checks.Wish {
		return checks.Wish{Name: name, By: path + field + " of " + object, In: "in a new MaasMachineTemplate"}
	}
	if spec.FailureDomain != "" {
		w.Zones = append(w.Zones, wish(spec.FailureDomain, "failureDomain"))
	}
	if spec.ResourcePool != "" {
		w.Pools = append(w.Pools, wish(spec.ResourcePool, "resourcePool"))
	}
	if spec.Image != "" {
		w.Images = append(w.Images, checks.ImageWish{Wish: wish(spec.Image, "image"), Architecture: spec.Architecture})
	}
}

func isProvisioned(machine *infrav1.MaasMachine) bool {
	provisioned := machine.Status.Initialization.Provisioned
	return provisioned != nil && *provisioned
}

// ownerMachine is the name of the Machine that owns an object; "" where there is none.
func ownerMachine(object client.Object) string {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == "Machine" {
			return owner.Name
		}
	}
	return ""
}

func nameOf(object client.Object) string { return object.GetNamespace() + "/" + object.GetName() }
