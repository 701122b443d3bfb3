package v1beta1

import (
	"strings"
	"unicode"
)

// providerIDPrefix is the start of every provider ID. Between the last two of its slashes others have a host; MAAS has none.
const providerIDPrefix = "maas:///"

// NewProviderID returns the provider ID of a machine, maas:///<zone>/<system ID>. What would keep it from being read again stands as a hyphen in the
// zone: slashes, and what cannot be seen.
func NewProviderID(zone, systemID string) string {
	zone = strings.Map(func(r rune) rune {
		if r == '/' || r == unicode.ReplacementChar || !unicode.IsGraphic(r) {
			return '-'
		}
		return r
	}, zone)
	return providerIDPrefix + zone + "/" + systemID
}

// maxSystemID is how long a system ID may be, in bytes. MAAS 3.3 to 3.7: they have six characters.
const maxSystemID = 64

// IsSystemID says whether a text can be a system ID of MAAS: letters and digits; hyphens and underscores are let pass. It goes into addresses of the
// API, where anything else could lead to another operation.
func IsSystemID(text string) bool {
	return text != "" && len(text) <= maxSystemID && strings.Trim(text, systemIDCharacters) == ""
}

const systemIDCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// SystemIDOf returns the system ID in a provider ID, whose zone may be empty. It is not ok for what is no provider ID of ours.
func SystemIDOf(providerID string) (systemID string, ok bool) {
	rest, ours := strings.CutPrefix(providerID, providerIDPrefix)
	_, systemID, hasZone := strings.Cut(rest, "/")
	if !ours || !hasZone || !IsSystemID(systemID) {
		return "", false
	}
	return systemID, true
}
