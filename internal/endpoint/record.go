package endpoint

import (
	"net/netip"
	"strings"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// DefaultPort is where an API server listens if nobody asks for another port.
const DefaultPort = 6443

// AddressTTL is how long resolvers may keep an address of a control plane, in seconds.
const AddressTTL = 10

// maxMark is the longest text that one string of a TXT record holds.
const maxMark = 255

// Record names a DNS record and says by which mark it is known as ours.
type Record struct {
	Name   string // one label
	Domain string // a domain of MAAS
	Token  string // the mark's random part; "" matches no record
	Owner  string // <namespace>/<name> of the MaasCluster, for people who look into MAAS
}

// RecordOf returns the record of a cluster's control plane. There is none, and ok is false, while no name is chosen, and where
// the endpoint is the user's own.
func RecordOf(cluster *infrav1.MaasCluster) (record Record, ok bool) {
	host := strings.TrimSuffix(cluster.Spec.ControlPlaneEndpoint.Host, ".")
	if host == "" || KindOf(cluster) != infrav1.EndpointMaasDNS || isAddress(host) {
		return Record{}, false
	}
	// MAAS 3.4 to 3.7: the name of an address record is one label, and the rest is the domain.
	name, domain, found := strings.Cut(host, ".")
	if !found || name == "" || domain == "" {
		return Record{}, false
	}
	return Record{
		Name:   name,
		Domain: domain,
		Token:  cluster.Annotations[infrav1.EndpointMarkAnnotation],
		Owner:  cluster.Namespace + "/" + cluster.Name,
	}, true
}

// KindOf returns the kind of a cluster's endpoint. Where the spec does not say, a host that was given is the user's own,
// unless an earlier provider published it.
func KindOf(cluster *infrav1.MaasCluster) infrav1.EndpointKind {
	host := cluster.Spec.ControlPlaneEndpoint.Host
	switch {
	case cluster.Spec.ControlPlaneEndpointKind != "":
		return cluster.Spec.ControlPlaneEndpointKind
	case host == "" || host == cluster.Status.Network.DNSName:
		return infrav1.EndpointMaasDNS
	}
	return infrav1.EndpointExternal
}

// FQDN returns the record's full name.
func (r Record) FQDN() string { return r.Name + "." + r.Domain }

// mark is the TXT record's text. It is one word, so that it needs no quotes on its way into a zone.
func (r Record) mark() string {
	text := r.markPrefix() + r.Owner
	return text[:min(len(text), maxMark)]
}

func (r Record) markPrefix() string { return "capmaas=" + r.Token + ",cluster=" }

// marks says whether a record carries our mark. Only the token counts: an object may be renamed on its way through a backup.
func (r Record) marks(found maas.DNSResource) bool {
	if r.Token == "" {
		return false
	}
	for _, record := range found.Records {
		if record.Type == "TXT" && strings.HasPrefix(strings.Trim(record.Data, `"`), r.markPrefix()) {
			return true
		}
	}
	return false
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
