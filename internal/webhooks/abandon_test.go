package webhooks

import (
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

func TestWhoeverAbandonsAMachineIsWarnedAndNamedInTheLog(t *testing.T) {
	t.Parallel()
	logged := &strings.Builder{}
	ctx := log.IntoContext(t.Context(), zap.New(zap.WriteTo(logged)))
	ctx = admission.NewContextWithRequest(ctx, admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UserInfo: authenticationv1.UserInfo{Username: "alice"},
	}})
	before := newTestMachine(func(m *infrav1.MaasMachine) {
		deployed(m)
		m.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	})
	now := before.DeepCopy()
	now.Annotations[infrav1.AbandonAnnotation] = "burnt"
	warnings, err := machineValidator{}.ValidateUpdate(ctx, before, now)
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "machine 4y3h7n is not released") {
		t.Errorf("warned %q, %v", warnings, err)
	}
	for _, part := range []string{"alice", "burnt", "4y3h7n"} {
		if !strings.Contains(logged.String(), part) {
			t.Errorf("the log has no %q: %s", part, logged)
		}
	}
	if warnings, err := (machineValidator{}).ValidateUpdate(ctx, now, now.DeepCopy()); err != nil || len(warnings) > 0 {
		t.Errorf("warned again: %q, %v", warnings, err)
	}
}
