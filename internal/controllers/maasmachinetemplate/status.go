package maasmachinetemplate

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/checks"
	"github.com/capmaas/cluster-api-provider-maas/internal/oneline"
)

// operatingSystem is that of all Nodes: cloud-init and kubeadm run on no other here.
const operatingSystem = "linux"

// maxMessage keeps messages short enough to be read in a table.
const maxMessage = 400

// setStatus writes what users and the cluster autoscaler see.
func setStatus(object *infrav1.MaasMachineTemplate, seen facts) {
	// What was found before stays true enough while MAAS cannot be asked, unless it was found for another spec.
	if seen.err != nil && found(object) {
		return
	}
	offered := seen.asked.or(seen.found)
	object.Status.Capacity = offered.capacity()
	object.Status.NodeInfo = infrav1.NodeInfo{Architecture: offered.architecture, OperatingSystem: operatingSystem}
	c := conditionOf(seen, offered)
	c.Type = infrav1.TemplateCapacityKnownCondition
	c.ObservedGeneration = object.Generation
	c.Message = oneline.Of(c.Message, maxMessage)
	conditions.Set(object, c)
}

// found says whether the status holds what a look at MAAS came to for this spec.
func found(object *infrav1.MaasMachineTemplate) bool {
	c := conditions.Get(object, infrav1.TemplateCapacityKnownCondition)
	return c != nil && c.Status != metav1.ConditionUnknown && c.ObservedGeneration == object.Generation
}

// conditionOf says whether what is offered is known.
func conditionOf(seen facts, offered offer) metav1.Condition {
	c := metav1.Condition{Status: metav1.ConditionFalse}
	switch {
	case seen.asked.complete():
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.CapacityKnownReason
	case seen.err != nil:
		away := checks.JudgeRegion(checks.Region{Host: seen.host, Err: seen.err}, false)
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, away.Reason, away.Message
	case seen.suitable == 0:
		c.Reason = infrav1.NoSuitableMachineReason
		c.Message = fmt.Sprintf("no machine in MAAS %s fits: %s", seen.host, seen.scarcity)
	case offered.architecture == "" && len(seen.architectures) > 1:
		c.Reason = infrav1.ArchitectureUnknownReason
		c.Message = fmt.Sprintf("machines of the architectures %s in MAAS %s fit, so the autoscaler assumes amd64: set spec.template.spec.architecture in a new MaasMachineTemplate",
			listed(seen.architectures), seen.host)
	case offered.architecture == "":
		c.Reason = infrav1.ArchitectureUnknownReason
		c.Message = fmt.Sprintf("the machines in MAAS %s that fit are of architecture %s, for which Cluster API has no name: "+
			"set another in spec.template.spec.architecture of a new MaasMachineTemplate", seen.host, strings.Join(seen.architectures, ""))
	default:
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.CapacityKnownReason
	}
	return c
}

// listed joins at least two names as people do: a, b and c.
func listed(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
