package checks

import (
	"fmt"
	"slices"
	"strings"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// maxNamed is how many things that are missing a message names.
const maxNamed = 2

// judgeDomain says whether MAAS answers for a domain.
func judgeDomain(host, name string, domains []maas.Domain) Finding {
	at := slices.IndexFunc(domains, func(d maas.Domain) bool { return d.Name == name })
	switch {
	case at < 0:
		return Finding{Wrong, infrav1.DomainNotFoundReason, endpoint.Explain(host, &endpoint.DomainNotFoundError{Domain: name})}
	case !domains[at].Authoritative:
		return Finding{Wrong, infrav1.DomainNotAuthoritativeReason, endpoint.Explain(host, &endpoint.DomainNotAuthoritativeError{Domain: name})}
	}
	return Finding{Fine, infrav1.DomainServedReason, ""}
}

func judgeZones(host string, wishes []Wish, zones []maas.Zone) Finding {
	return judgeNames(wishes, func(name string) bool {
		return slices.ContainsFunc(zones, func(z maas.Zone) bool { return z.Name == name })
	}, infrav1.ZoneNotFoundReason, "MAAS "+host+" has no zone %q, which %s asks for: make it in MAAS, or name another one %s")
}

func judgePools(host string, wishes []Wish, pools []maas.ResourcePool) Finding {
	return judgeNames(wishes, func(name string) bool {
		return slices.ContainsFunc(pools, func(p maas.ResourcePool) bool { return p.Name == name })
	}, infrav1.PoolNotFoundReason, "MAAS "+host+" has no resource pool %q, which %s asks for: make it in MAAS, or name another one %s")
}

func judgeNames(wishes []Wish, exists func(string) bool, reason, message string) Finding {
	var missing []string
	seen := map[string]bool{}
	for _, wish := range wishes {
		if seen[wish.Name] || exists(wish.Name) {
			continue
		}
		seen[wish.Name] = true
		missing = append(missing, fmt.Sprintf(message, wish.Name, wish.By, wish.In))
	}
	return missingOr(missing, reason, infrav1.ZonesAndPoolsFoundReason)
}

// missingOr makes the finding of a list of what is missing.
func missingOr(missing []string, wrong, fine string) Finding {
	if len(missing) == 0 {
		return Finding{Fine, fine, ""}
	}
	return Finding{Wrong, wrong, several(missing)}
}

// several joins a few messages, so that the whole stays one line that can be read.
func several(messages []string) string {
	if len(messages) <= maxNamed {
		return strings.Join(messages, "; ")
	}
	return strings.Join(messages[:maxNamed], "; ") + "; and others"
}

// together is the finding of two checks that share a condition.
func together(a, b Finding) Finding {
	switch {
	case a.Verdict == Wrong && b.Verdict == Wrong:
		return Finding{Wrong, a.Reason, several([]string{a.Message, b.Message})}
	case b.Verdict == Wrong, a.Verdict == Fine:
		return b
	}
	return a
}
