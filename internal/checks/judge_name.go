package checks

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// maxAddresses is how many addresses a message names.
const maxAddresses = 3

// withoutLookUp says what is known of an endpoint without looking it up.
func withoutLookUp(published Endpoint) (found Finding, known bool) {
	if _, err := netip.ParseAddr(published.Host); err == nil {
		return Finding{Fine, infrav1.EndpointResolvesReason, ""}, true
	}
	if published.Managed && len(published.Addresses) == 0 {
		return Finding{Unknown, infrav1.NoAddressPublishedReason, "no machine of the control plane has joined the DNS record " + published.Host + " yet"}, true
	}
	return Finding{}, false
}

func notLookedUp(published Endpoint) Finding {
	return Finding{Unknown, infrav1.EndpointNotLookedUpReason, "the name " + published.Host + " is being looked up"}
}

// judgeName compares what a name leads to with what is published. That some of what is published is missing is no trouble: resolvers
// may lag behind.
func judgeName(published Endpoint, addresses []string, err error) Finding {
	if err != nil || len(addresses) == 0 {
		return Finding{Wrong, infrav1.EndpointNotResolvedReason, notResolved(published, err)}
	}
	if !published.Managed {
		return Finding{Fine, infrav1.EndpointResolvesReason, ""}
	}
	var others []string
	for _, address := range addresses {
		if address = plain(address); !slices.ContainsFunc(published.Addresses, func(p string) bool { return plain(p) == address }) {
			others = append(others, address)
		}
	}
	if len(others) == 0 {
		return Finding{Fine, infrav1.EndpointResolvesReason, ""}
	}
	slices.Sort(others)
	return Finding{Wrong, infrav1.EndpointResolvesElsewhereReason, fmt.Sprintf(
		"in the management cluster %s leads to %s, but in MAAS its addresses are %s: look which DNS server answers for %s there",
		published.Host, few(others), few(published.Addresses), published.Host)}
}

func notResolved(published Endpoint, err error) string {
	message := fmt.Sprintf("the name %s cannot be resolved in the management cluster (%s): ", published.Host, describeLookUp(err))
	if !published.Managed {
		return message + "make it known to the DNS servers that the management cluster uses"
	}
	_, domain, _ := strings.Cut(published.Host, ".")
	return message + fmt.Sprintf("let the DNS servers of the management cluster forward the domain %s to MAAS", domain)
}

// describeLookUp names a failure in words that are the same each time.
func describeLookUp(err error) string {
	var dns *net.DNSError
	switch {
	case err == nil:
		return "it has no address"
	case !errors.As(err, &dns):
		return "the look-up failed"
	case dns.IsNotFound:
		return "there is no such name"
	case dns.IsTimeout:
		return "no DNS server answers in time"
	}
	return "the DNS server fails"
}

// plain writes an address as everybody does, so that two spellings of one are equal.
func plain(address string) string {
	if parsed, err := netip.ParseAddr(address); err == nil {
		return parsed.Unmap().WithZone("").String()
	}
	return address
}

// few names a few, so that a message stays one short line.
func few(addresses []string) string {
	if len(addresses) <= maxAddresses {
		return strings.Join(addresses, ", ")
	}
	return strings.Join(addresses[:maxAddresses], ", ") + " and others"
}
