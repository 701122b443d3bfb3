package webhooks

import (
	"context"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

func newTestTemplate(change func(*infrav1.MaasMachineTemplate)) *infrav1.MaasMachineTemplate {
	template := &infrav1.MaasMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t1"}}
	template.Spec.Template.Spec = newTestMachine(nil).Spec
	if change != nil {
		change(template)
	}
	return template
}

func stamped(t *infrav1.MaasMachineTemplate) {
	t.Spec.Template.ObjectMeta.Annotations = map[string]string{infrav1.ClaimAnnotation: "t0ken"}
}

func TestNewMaasMachineTemplates(t *testing.T) {
	t.Parallel()
	for name, test := range specCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template := newTestTemplate(func(m *infrav1.MaasMachineTemplate) { test.change(&m.Spec.Template.Spec) })
			_, err := templateValidator{}.ValidateCreate(t.Context(), template)
			expectRefusal(t, err, prefixed("spec.template.spec", test.want))
		})
	}
	owned := func(m *infrav1.MaasMachineTemplate) {
		m.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c1", UID: "1"}}
	}
	for name, test := range map[string]struct {
		change func(*infrav1.MaasMachineTemplate)
		want   string
	}{
		"for a certain machine": {func(m *infrav1.MaasMachineTemplate) { m.Spec.Template.Spec.SystemID = "4y3h7n" },
			"spec.template.spec.systemID: Forbidden: names one machine, and a template makes many: remove it"},
		"for a certain provider ID": {func(m *infrav1.MaasMachineTemplate) { m.Spec.Template.Spec.ProviderID = "maas:///z1/4y3h7n" },
			"spec.template.spec.providerID: Forbidden: names one machine"},
		"with a claim": {stamped, "spec.template.metadata.annotations[infrastructure.cluster.x-k8s.io/maas-claim]: Forbidden: belongs to one machine"},
		"with an attempt": {func(m *infrav1.MaasMachineTemplate) {
			m.Spec.Template.ObjectMeta.Annotations = map[string]string{infrav1.ClaimAttemptAnnotation: ""}
		}, "spec.template.metadata.annotations[infrastructure.cluster.x-k8s.io/maas-claim-attempt]: Forbidden"},
		"with deployments": {func(m *infrav1.MaasMachineTemplate) {
			m.Spec.Template.ObjectMeta.Annotations = map[string]string{infrav1.DeployAttemptsAnnotation: "[]"}
		}, "spec.template.metadata.annotations[infrastructure.cluster.x-k8s.io/maas-deploy-attempts]: Forbidden"},
		"abandoned": {func(m *infrav1.MaasMachineTemplate) {
			m.Spec.Template.ObjectMeta.Annotations = map[string]string{infrav1.AbandonAnnotation: "x"}
		}, "spec.template.metadata.annotations[infrastructure.cluster.x-k8s.io/maas-abandon]: Forbidden"},
		"with its deletion confirmed": {func(m *infrav1.MaasMachineTemplate) {
			m.Spec.Template.ObjectMeta.Annotations = map[string]string{infrav1.ConfirmDeleteAnnotation: "yes"}
		}, "maas-confirm-delete]: Forbidden"},
		"with labels": {func(m *infrav1.MaasMachineTemplate) {
			m.Spec.Template.ObjectMeta = clusterv1.ObjectMeta{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}}
		}, ""},
		"moved, with what an earlier provider stored": {func(m *infrav1.MaasMachineTemplate) {
			owned(m)
			m.Spec.Template.Spec.SystemID, m.Spec.Template.Spec.Parent = "4y3h7n", "abc123"
		}, ""},
		"moved, with a claim": {func(m *infrav1.MaasMachineTemplate) { owned(m); stamped(m) }, "maas-claim]: Forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := templateValidator{}.ValidateCreate(t.Context(), newTestTemplate(test.change))
			expectRefusal(t, err, test.want)
		})
	}
}

func TestChangesOfMaasMachineTemplates(t *testing.T) {
	t.Parallel()
	image := func(m *infrav1.MaasMachineTemplate) { m.Spec.Template.Spec.Image = "custom/other" }
	const refused = "spec.template.spec.image: Forbidden: cannot be changed: machines may have been made by it. Make another template"
	for name, test := range map[string]struct {
		before, change   func(*infrav1.MaasMachineTemplate)
		dryRun, topology bool
		want             string
	}{
		"another image":                       {change: image, want: refused},
		"another image in a dry run":          {change: image, dryRun: true, want: refused},
		"another image with topology's mark":  {change: image, topology: true, want: refused},
		"another image in topology's dry run": {change: image, topology: true, dryRun: true},
		"a claim in topology's dry run":       {change: stamped, topology: true, dryRun: true, want: "maas-claim]: Forbidden"},
		"another zone":                        {change: func(m *infrav1.MaasMachineTemplate) { m.Spec.Template.Spec.FailureDomain = "z2" }, want: "spec.template.spec.failureDomain: Forbidden"},
		"labels":                              {change: func(m *infrav1.MaasMachineTemplate) { m.Labels = map[string]string{"a": "b"} }},
		"tags in another order, no empty list": {change: func(m *infrav1.MaasMachineTemplate) {
			m.Spec.Template.Spec.Tags = []string{"gpu_2", "ssd"}
			m.Spec.Template.Spec.Subnets = []string{}
		}},
		"a label with a claim of long ago":       {before: stamped, change: func(m *infrav1.MaasMachineTemplate) { m.Labels = map[string]string{"a": "b"} }},
		"an owner, with a system ID of long ago": {before: func(m *infrav1.MaasMachineTemplate) { m.Spec.Template.Spec.SystemID = "4y3h7n" }, change: func(m *infrav1.MaasMachineTemplate) { m.OwnerReferences = []metav1.OwnerReference{{Kind: "Cluster"}} }},
		"anything on the way out": {change: func(m *infrav1.MaasMachineTemplate) {
			m.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			image(m)
			stamped(m)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := newTestTemplate(test.before)
			now := before.DeepCopy()
			test.change(now)
			if test.topology {
				now.Annotations = map[string]string{clusterv1.TopologyDryRunAnnotation: ""}
			}
			_, err := templateValidator{}.ValidateUpdate(requested(t.Context(), test.dryRun), before, now)
			expectRefusal(t, err, test.want)
		})
	}
}

// requested is a context as that of an update.
func requested(ctx context.Context, dryRun bool) context.Context {
	return admission.NewContextWithRequest(ctx, admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{DryRun: &dryRun}})
}
