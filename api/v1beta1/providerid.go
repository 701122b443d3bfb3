package v1beta1

import "strings"

// providerIDPrefix is the start of every provider ID. Between the last two of its slashes others have a host; MAAS has none.
const providerIDPrefix = "maas:///"

// NewProviderID returns the provider ID of a machine, maas:///<zone>/<system ID>.
func NewProviderID(zone, systemID string) string { return providerIDPrefix + zone + "/" + systemID }

// SystemIDOf returns the system ID in a provider ID, whose zone may be empty. It is not ok for what is no provider ID of ours.
func SystemIDOf(providerID string) (systemID string, ok bool) {
	rest, ours := strings.CutPrefix(providerID, providerIDPrefix)
	_, systemID, hasZone := strings.Cut(rest, "/")
	if !ours || !hasZone || systemID == "" || strings.Contains(systemID, "/") {
		return "", false
	}
	return systemID, true
}
