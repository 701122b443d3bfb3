package checks

import (
	"errors"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// ReasonOf names a failure to talk to MAAS, in the condition of whatever waits for MAAS. It is one of the reasons of MAASAvailable.
func ReasonOf(err error) string {
	if errors.Is(err, maas.ErrClocksDiffer) {
		return infrav1.ClocksDifferReason
	}
	switch maas.KindOf(err) {
	case maas.KindUnauthorized:
		return infrav1.MAASKeyRefusedReason
	case maas.KindForbidden:
		return infrav1.MAASKeyLacksRightsReason
	case maas.KindNotMAAS:
		return infrav1.NotMAASReason
	}
	return infrav1.MAASUnreachableReason
}
