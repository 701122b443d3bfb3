package webhooks

import (
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

func lasting(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

func number(n int32) *int32 { return &n }

// strategyCases are strategies, and what is said of them after their path; nothing where all is well.
func strategyCases() map[string]struct {
	strategy infrav1.RemediationStrategy
	want     string
} {
	return map[string]struct {
		strategy infrav1.RemediationStrategy
		want     string
	}{
		"nothing is said":       {infrav1.RemediationStrategy{}, ""},
		"all is said":           {infrav1.RemediationStrategy{Type: "Reboot", RetryLimit: number(3), Timeout: lasting(time.Minute), CoolDown: lasting(24 * time.Hour)}, ""},
		"no power cycle at all": {infrav1.RemediationStrategy{RetryLimit: number(0), CoolDown: lasting(0)}, ""},
		"another type":          {infrav1.RemediationStrategy{Type: "Pray"}, `.type: Unsupported value: "Pray"`},
		"too often":             {infrav1.RemediationStrategy{RetryLimit: number(11)}, ".retryLimit: Invalid value: 11: must be from 0 to 10"},
		"less than never":       {infrav1.RemediationStrategy{RetryLimit: number(-1)}, ".retryLimit: Invalid value: -1: must be from 0 to 10"},
		"too little time":       {infrav1.RemediationStrategy{Timeout: lasting(59 * time.Second)}, `.timeout: Invalid value: "59s": must be from a minute`},
		"too much time":         {infrav1.RemediationStrategy{Timeout: lasting(25 * time.Hour)}, `.timeout: Invalid value: "25h0m0s": must be from a minute`},
		"too long a pause":      {infrav1.RemediationStrategy{CoolDown: lasting(25 * time.Hour)}, `.coolDown: Invalid value: "25h0m0s": must be at most a day`},
	}
}

func TestStrategies(t *testing.T) {
	t.Parallel()
	for name, test := range strategyCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object, template := &infrav1.MaasRemediation{}, &infrav1.MaasRemediationTemplate{}
			object.Spec.Strategy, template.Spec.Template.Spec.Strategy = test.strategy, test.strategy
			want := func(path string) string {
				if test.want == "" {
					return ""
				}
				return path + test.want
			}
			_, err := remediationValidator{}.ValidateCreate(t.Context(), object)
			expectRefusal(t, err, want("spec.strategy"))
			_, err = remediationTemplateValidator{}.ValidateCreate(t.Context(), template)
			expectRefusal(t, err, want("spec.template.spec.strategy"))
			before := object.DeepCopy()
			before.Spec.Strategy = infrav1.RemediationStrategy{RetryLimit: number(7)}
			_, err = remediationValidator{}.ValidateUpdate(t.Context(), before, object)
			expectRefusal(t, err, want("spec.strategy"))

			_, err = remediationValidator{}.ValidateUpdate(t.Context(), object, object.DeepCopy())
			expectRefusal(t, err, "") // it was stored so
			object.Finalizers = []string{infrav1.RemediationFinalizer}
			_, err = remediationValidator{}.ValidateCreate(t.Context(), object)
			expectRefusal(t, err, "") // it was moved
			object.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			_, err = remediationValidator{}.ValidateUpdate(t.Context(), before, object)
			expectRefusal(t, err, "") // it leaves
		})
	}
}

func TestRemediationTemplatesCannotBeChanged(t *testing.T) {
	t.Parallel()
	before := &infrav1.MaasRemediationTemplate{}
	before.Spec.Template.Spec.Strategy.RetryLimit = number(1)
	after := before.DeepCopy()
	after.Spec.Template.Spec.Strategy.RetryLimit = number(2)
	const refused = "spec: Forbidden: cannot be changed: make another template"
	asked := func(dryRun bool) admission.Request {
		return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{DryRun: &dryRun}}
	}
	ctx := admission.NewContextWithRequest(t.Context(), asked(false))
	_, err := remediationTemplateValidator{}.ValidateUpdate(ctx, before, after)
	expectRefusal(t, err, refused)
	labelled := before.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	_, err = remediationTemplateValidator{}.ValidateUpdate(ctx, before, labelled)
	expectRefusal(t, err, "")

	dry := admission.NewContextWithRequest(t.Context(), asked(true))
	_, err = remediationTemplateValidator{}.ValidateUpdate(dry, before, after)
	expectRefusal(t, err, refused) // by a person
	after.Annotations = map[string]string{clusterv1.TopologyDryRunAnnotation: ""}
	_, err = remediationTemplateValidator{}.ValidateUpdate(dry, before, after)
	expectRefusal(t, err, "")
	after.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	_, err = remediationTemplateValidator{}.ValidateUpdate(ctx, before, after)
	expectRefusal(t, err, "")
}
