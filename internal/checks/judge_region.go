package checks

import (
	"errors"
	"fmt"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// The oldest MAAS that is supported, and the newest that was tested with.
const (
	oldestMajor, oldestMinor = 3, 3
	newestMajor, newestMinor = 3, 7
)

// refusedSkew is how old a request may be for MAAS 2.9 to 3.7.
const refusedSkew = 300 * time.Second

// JudgeRegion says whether MAAS can be worked with. What MAAS answered to an act of the caller's own, if that failed, may stand in
// place of the region's error.
func JudgeRegion(r Region, writesDNS bool) Finding {
	wrong := func(reason, message string, args ...any) Finding {
		return Finding{Wrong, reason, fmt.Sprintf(message, args...)}
	}
	switch {
	case errors.Is(r.Err, maas.ErrNotMAAS):
		return wrong(infrav1.NotMAASReason, "MAAS_ENDPOINT does not lead to MAAS: %s", maas.Words(r.Err))
	case errors.Is(r.Err, maas.ErrUnauthorized) && r.refusesOurTime():
		return wrong(infrav1.ClocksDifferReason, "MAAS %s refuses all requests as out of date, whatever the API key, for the clock of the "+
			"manager's host is more than %d seconds behind that of MAAS: let both take the time from NTP servers", r.Host, refusedSkew/time.Second)
	case errors.Is(r.Err, maas.ErrUnauthorized):
		return wrong(infrav1.MAASKeyRefusedReason, "MAAS %s does not accept the API key (%s): put a key of the same MAAS user into MAAS_API_KEY "+
			"(Secret capmaas-manager-bootstrap-credentials), and restart the manager", r.Host, maas.Words(r.Err))
	case errors.Is(r.Err, maas.ErrForbidden):
		return wrong(infrav1.MAASKeyLacksRightsReason, "MAAS %s does not let the API key's user do what is needed (%s): "+
			"look in MAAS whether that user is active, and an administrator if DNS records are to be written", r.Host, maas.Words(r.Err))
	case r.Err != nil:
		return wrong(infrav1.MAASUnreachableReason, "MAAS %s is not available (%s): look whether MAAS runs, and whether the management cluster reaches it", r.Host, maas.Words(r.Err))
	case r.versionTooOld():
		return wrong(infrav1.MAASVersionUnsupportedReason, "MAAS %s is of version %s, and %d.%d is the oldest that is supported: upgrade MAAS",
			r.Host, r.Version, oldestMajor, oldestMinor)
	case r.versionUnreadable():
		return wrong(infrav1.MAASVersionUnsupportedReason, "MAAS %s says that its version is %q, which is none that we know: look what answers there",
			r.Host, r.Version)
	case writesDNS && !r.Superuser:
		return wrong(infrav1.MAASKeyLacksRightsReason, "the API key's user is no administrator of MAAS %s, so DNS records cannot be written: make that "+
			"user an administrator in MAAS", r.Host)
	case r.Clock.Differs:
		ahead := "ahead of"
		if r.Clock.Skew < 0 {
			ahead = "behind"
		}
		return wrong(infrav1.ClocksDifferReason, "the clock of MAAS %s is more than a minute %s that of the manager's host: let both take the time from NTP "+
			"servers; requests still work, but MAAS refuses those that seem older than %d seconds", r.Host, ahead, refusedSkew/time.Second)
	}
	return Finding{Fine, infrav1.MAASAvailableReason, r.note()}
}

// refusesOurTime says that a refusal is about the time and not the key. A MAAS behind something that swallows its words does not say so.
func (r Region) refusesOurTime() bool {
	return errors.Is(r.Err, maas.ErrClocksDiffer) || r.Clock.Skew > refusedSkew
}

func (r Region) versionUnreadable() bool { return r.Version != "" && !r.version().AtLeast(0, 0) }

func (r Region) versionTooOld() bool {
	return r.Version != "" && !r.versionUnreadable() && !r.version().AtLeast(oldestMajor, oldestMinor)
}

func (r Region) version() maas.Version { return maas.Version{Version: r.Version} }

// note says what is no trouble, but worth knowing.
func (r Region) note() string {
	if r.version().AtLeast(newestMajor, newestMinor+1) {
		return fmt.Sprintf("MAAS %s is of version %s, which is newer than those that were tested (%d.%d to %d.%d)",
			r.Host, r.Version, oldestMajor, oldestMinor, newestMajor, newestMinor)
	}
	return ""
}
