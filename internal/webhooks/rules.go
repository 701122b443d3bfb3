package webhooks

import (
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// Rules are what the webhooks ask about an object, for callers in the same process. The zero value is ready for use.
type Rules struct{}

// OfCluster are the rules for MaasClusters.
func (Rules) OfCluster() admission.Validator[*infrav1.MaasCluster] { return clusterValidator{} }

// OfMachine are the rules for MaasMachines.
func (Rules) OfMachine() admission.Validator[*infrav1.MaasMachine] { return machineValidator{} }

// OfTemplate are the rules for MaasMachineTemplates.
func (Rules) OfTemplate() admission.Validator[*infrav1.MaasMachineTemplate] {
	return templateValidator{}
}
