package controllers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/webhooks"
)

// refusal is an object that is not let in.
type refusal struct {
	name string
	// write asks the webhook, as kubectl apply does.
	write func() error
	// message is all that the user is told.
	message string
	do      string
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, r := range refusals() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			err := r.write()
			if err == nil {
				t.Fatal("it is let in")
			}
			if err.Error() != r.message {
				t.Errorf("message\n got  %s\n want %s", err, r.message)
			}
			complain := func(format string, args ...any) { t.Errorf(format, args...) }
			acceptable(complain, "the message", err.Error())
			if !strings.Contains(r.message, "spec.") && !strings.Contains(r.message, "metadata.") {
				t.Error("the message has no field's path")
			}
			if r.do == "" {
				t.Error("the page does not say what to do")
			}
		})
	}
}

func refusals() []refusal {
	return []refusal{
		{
			name:    "Two tags stand in one item",
			write:   newTemplate(func(m *infrav1.MaasMachineSpec) { m.Tags = []string{"gpu,nvme"} }),
			message: "MaasMachineTemplate.infrastructure.cluster.x-k8s.io \"prod-workers\" is invalid: spec.template.spec.tags[0]: Invalid value: \"gpu,nvme\": must be one tag; list each tag by itself",
			do:      "Make each tag an item of its own.",
		},
		{
			name:    "The image has no name",
			write:   newTemplate(func(m *infrav1.MaasMachineSpec) { m.Image = "custom/" }),
			message: "MaasMachineTemplate.infrastructure.cluster.x-k8s.io \"prod-workers\" is invalid: spec.template.spec.image: Invalid value: \"custom/\": must be the name of an image in MAAS, without spaces: custom/<name> or <name> for one of your own, else <operating system>/<series> such as ubuntu/noble",
			do:      "Name an image that MAAS has.",
		},
		{
			name:    "The architecture is spelled as Linux spells it",
			write:   newTemplate(func(m *infrav1.MaasMachineSpec) { m.Architecture = "x86_64" }),
			message: "MaasMachineTemplate.infrastructure.cluster.x-k8s.io \"prod-workers\" is invalid: spec.template.spec.architecture: Invalid value: \"x86_64\": must be amd64: MAAS calls it so",
			do:      "Write `amd64`.",
		},
		{
			name: "A template of an earlier provider asks for LXD virtual machines",
			write: newTemplate(func(m *infrav1.MaasMachineSpec) {
				m.LXD = &apiextensionsv1.JSON{Raw: []byte(`{"enabled":true}`)}
			}),
			message: "MaasMachineTemplate.infrastructure.cluster.x-k8s.io \"prod-workers\" is invalid: spec.template.spec.lxd: Forbidden: LXD virtual machines are not made by this provider: remove the field; machines are taken from those that MAAS has",
			do:      "Remove the field.",
		},
		{
			name:    "A tag is wanted and not wanted",
			write:   newTemplate(func(m *infrav1.MaasMachineSpec) { m.Tags, m.NotTags = []string{"ssd"}, []string{"ssd"} }),
			message: "MaasMachineTemplate.infrastructure.cluster.x-k8s.io \"prod-workers\" is invalid: spec.template.spec.notTags[0]: Invalid value: \"ssd\": is in tags too, so that no machine can fit: remove it from one of the two",
			do:      "Remove it from one of the two.",
		},
		{
			name:    "A template holds the system ID of a machine",
			write:   newTemplate(func(m *infrav1.MaasMachineSpec) { m.SystemID = "aaaaa1" }),
			message: "MaasMachineTemplate.infrastructure.cluster.x-k8s.io \"prod-workers\" is invalid: spec.template.spec.systemID: Forbidden: names one machine, and a template makes many: remove it",
			do:      "Remove it. To get a certain machine, give it a tag of its own in MAAS and ask for that.",
		},
		{
			name: "The image of a machine that exists is changed",
			write: changedMachine(func(m *infrav1.MaasMachine) {
				m.Spec.Image = "custom/u-2404-2"
			}),
			message: "MaasMachine.infrastructure.cluster.x-k8s.io \"prod-md-0\" is invalid: spec.image: Forbidden: cannot be changed: the machine was chosen and installed by it. For another machine, make another template and let the Machine be replaced",
			do:      "Make a new MaasMachineTemplate, and refer to it in the MachineDeployment or the control plane: machines are then replaced one by one.",
		},
		{
			name: "Somebody removes the claim of a MaasMachine",
			write: changedMachine(func(m *infrav1.MaasMachine) {
				delete(m.Annotations, infrav1.ClaimAnnotation)
			}),
			message: "MaasMachine.infrastructure.cluster.x-k8s.io \"prod-md-0\" is invalid: metadata.annotations[infrastructure.cluster.x-k8s.io/maas-claim]: Forbidden: cannot be changed or removed: by this claim the machine in MAAS is known as this object's, and without it the machine would be lost",
			do:      "Leave it. To get rid of the machine, delete its Machine.",
		},
		{
			name: "The endpoint of a cluster is changed",
			write: changedCluster(func(c *infrav1.MaasCluster) {
				c.Spec.ControlPlaneEndpoint.Host = "prod.example.com"
			}),
			message: "MaasCluster.infrastructure.cluster.x-k8s.io \"prod\" is invalid: spec.controlPlaneEndpoint.host: Forbidden: cannot be changed once it is set: the cluster's nodes, clients and certificates hold on to it",
			do:      "Leave it: nodes, clients and certificates hold on to it. A cluster with another endpoint is another cluster.",
		},
		{
			name: "An address of the user's own is given with its port in it",
			write: func() error {
				c := (&world{}).maasClusterObject()
				c.Spec.ControlPlaneEndpointKind, c.Spec.ControlPlaneEndpoint.Host = infrav1.EndpointExternal, "10.0.0.1:6443"
				_, err := webhooks.Rules{}.OfCluster().ValidateCreate(context.Background(), c)
				return err
			},
			message: "MaasCluster.infrastructure.cluster.x-k8s.io \"prod\" is invalid: spec.controlPlaneEndpoint.host: Invalid value: \"10.0.0.1:6443\": must be a DNS name or an IP address alone; the port has its own field",
			do:      "Write the port into `spec.controlPlaneEndpoint.port`.",
		},
	}
}

func newTemplate(change func(*infrav1.MaasMachineSpec)) func() error {
	return func() error {
		object := &infrav1.MaasMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: workers}}
		object.Spec.Template.Spec.Image = "custom/u-2404"
		change(&object.Spec.Template.Spec)
		_, err := webhooks.Rules{}.OfTemplate().ValidateCreate(context.Background(), object)
		return err
	}
}

func changedMachine(change func(*infrav1.MaasMachine)) func() error {
	return func() error {
		before := &infrav1.MaasMachine{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: worker, Annotations: map[string]string{infrav1.ClaimAnnotation: "token"}},
			Spec:       infrav1.MaasMachineSpec{Image: "custom/u-2404", SystemID: "aaaaa1"},
		}
		now := before.DeepCopy()
		change(now)
		_, err := webhooks.Rules{}.OfMachine().ValidateUpdate(context.Background(), before, now)
		return err
	}
}

func changedCluster(change func(*infrav1.MaasCluster)) func() error {
	return func() error {
		before := (&world{}).maasClusterObject()
		now := before.DeepCopy()
		change(now)
		_, err := webhooks.Rules{}.OfCluster().ValidateUpdate(context.Background(), before, now)
		return err
	}
}

// writeRefusals writes their part of the page.
func writeRefusals(text *strings.Builder) {
	text.WriteString("\n## An object is refused when it is written\n\nThe message is what `kubectl apply` says. [What is refused](validation.md) has all rules.\n")
	for _, r := range refusals() {
		fmt.Fprintf(text, "\n### %s\n\n```\n%s\n```\n\n%s\n", r.name, strings.Join(wrap(r.message, 120), "\n"), strings.Join(wrap(r.do, 132), "\n"))
	}
}
