package checks

import (
	"context"
	"fmt"
	"testing"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

func TestFailuresToTalkToMAASHaveReasons(t *testing.T) {
	t.Parallel()
	for reason, err := range map[string]error{
		infrav1.ClocksDifferReason:       &maas.Error{Kind: maas.KindUnauthorized, Err: maas.ErrClocksDiffer},
		infrav1.MAASKeyRefusedReason:     fmt.Errorf("look: %w", &maas.Error{Kind: maas.KindUnauthorized}),
		infrav1.MAASKeyLacksRightsReason: &maas.Error{Kind: maas.KindForbidden},
		infrav1.NotMAASReason:            &maas.Error{Kind: maas.KindNotMAAS},
		infrav1.MAASUnreachableReason:    context.DeadlineExceeded,
	} {
		if got := ReasonOf(err); got != reason {
			t.Errorf("%v: got %s, want %s", err, got, reason)
		}
	}
}
