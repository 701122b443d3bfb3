package webhooks

import (
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// domainFault says what is wrong with a DNS domain; "" if nothing is.
func domainFault(domain string) string {
	switch {
	case strings.HasSuffix(domain, "."):
		return "must be written without the dot at its end"
	case domain != strings.ToLower(domain):
		return "must be written in lower case"
	case isAddress(domain):
		return "must be a DNS domain of MAAS, not an address"
	case !isName(domain):
		return "must be a DNS domain of MAAS, such as maas or k8s.example.com: labels of at most 63 lower-case letters, digits and " +
			"hyphens, with dots between them"
	}
	return ""
}

// hostFault says what is wrong with the host of an endpoint; "" if nothing is.
func hostFault(host string) string {
	if address, err := netip.ParseAddr(host); err == nil {
		if address.IsUnspecified() || address.IsLoopback() || address.Zone() != "" {
			return "is not an address at which machines reach each other"
		}
		return ""
	}
	switch {
	case strings.Contains(host, "://") || strings.Contains(host, "/"):
		return "must be a DNS name or an IP address alone, not a URL"
	case strings.HasPrefix(host, "["):
		return "must be an IPv6 address without brackets; the port has its own field"
	case strings.Count(host, ":") == 1:
		return "must be a DNS name or an IP address alone; the port has its own field"
	case strings.HasSuffix(host, "."):
		return "must be written without the dot at its end"
	case host != strings.ToLower(host):
		return "must be written in lower case: kubeadm refuses anything else" // kubeadm 1.36: DNS-1123 subdomain
	case !isName(host) || endsInNumber(host):
		return "must be a DNS name in lower case, or an IP address"
	}
	return ""
}

// recordFault says why a host cannot be a record of ours in a domain; "" if it can. MAAS 3.4 to 3.7: the name of an address record
// is one label.
func recordFault(host, domain string) string {
	domain = strings.ToLower(strings.Trim(domain, "."))
	label, found := strings.CutSuffix(host, "."+domain)
	switch {
	case isAddress(host):
		return "is an address, and the endpoint's kind is MaasDNS: leave the host empty to get a name, or set controlPlaneEndpointKind " +
			"to External for an address of your own"
	case !found || strings.Contains(label, "."):
		return "must be one label and the domain, <name>." + domain + ", where the endpoint's kind is MaasDNS; leave it empty to get a " +
			"name, or set controlPlaneEndpointKind to External for a name of your own"
	}
	return ""
}

func isName(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if len(validation.IsDNS1123Label(label)) > 0 {
			return false
		}
	}
	return len(name) <= validation.DNS1123SubdomainMaxLength
}

// endsInNumber tells a mistyped IPv4 address from a name: no top-level domain is a number.
func endsInNumber(name string) bool {
	last := name[strings.LastIndex(name, ".")+1:]
	return strings.Trim(last, "0123456789") == ""
}

func isAddress(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}
