package endpoint

import (
	"context"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// defaultTTL is how long resolvers keep what MAAS answers where neither a record nor its domain says. MAAS 3.4 to 3.7: the setting
// default_dns_ttl is 30 seconds unless an administrator changed it.
const defaultTTL = 30 * time.Second

// Propagation is how long a change of a record may take until all of MAAS's DNS servers answer with it. MAAS 3.4 to 3.7 take 1 to 5
// seconds; the rest is for servers that copy the zone.
const Propagation = 15 * time.Second

// KeptFor is how long resolvers keep what a record of ours says, unless somebody changed it.
const KeptFor = AddressTTL * time.Second

// ttlOf says how long resolvers may keep the addresses of our record as it was found. Of several records of the name, the longest
// counts. A domain that cannot be read holds nobody up: MAAS's default is assumed then.
func (p *Publisher) ttlOf(ctx context.Context, record Record, found []maas.DNSResource) time.Duration {
	longest, ofDomain := time.Duration(0), false
	for _, resource := range found {
		switch {
		case !record.marks(resource) || len(resource.Addresses) == 0:
		case resource.AddressTTL == nil:
			ofDomain = true
		default:
			longest = max(longest, seconds(*resource.AddressTTL))
		}
	}
	if !ofDomain {
		return longest
	}
	domains, err := p.maas.Domains(ctx)
	if err != nil {
		return max(longest, defaultTTL)
	}
	for _, domain := range domains {
		if domain.Name == record.Domain && domain.TTL != nil {
			return max(longest, seconds(*domain.TTL))
		}
	}
	return max(longest, defaultTTL)
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }
