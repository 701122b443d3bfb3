package maas

import (
	"net"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// apiPath is where the API is below MAAS's own prefix.
const apiPath = "api/2.0/"

const endpointExample = "such as http://maas.example.com:5240/MAAS"

// normaliseEndpoint turns what people type into the API's base URL: with or without scheme, /MAAS, /api/2.0 or a page
// of the user interface. What stands before /MAAS (the prefix of a reverse proxy) is kept. A path that spells out
// api/2.0 without MAAS before it is believed.
func normaliseEndpoint(typed string) (string, error) {
	typed = strings.TrimSpace(typed)
	if typed == "" {
		return "", endpointError("is empty; give MAAS's address")
	}
	u, err := url.Parse(withScheme(typed))
	if err != nil {
		return "", endpointError("is not a URL; give MAAS's address")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", endpointError("must begin with http:// or https://")
	}
	if u.User != nil {
		return "", endpointError("must not hold a user name or password; give the plain address")
	}
	host, err := normaliseHost(u)
	if err != nil {
		return "", err
	}
	base := url.URL{Scheme: u.Scheme, Host: host, Path: apiRoot(u.Path)}
	return base.String(), nil
}

func endpointError(message string) error {
	return &ConfigError{Field: "Endpoint", Message: message + ", " + endpointExample}
}

// withScheme completes an address without a scheme: MAAS's ports with TLS mean https, no port at all means MAAS's 5240.
func withScheme(typed string) string {
	if strings.Contains(typed, "://") {
		return typed
	}
	hostPort, rest, _ := strings.Cut(strings.TrimPrefix(typed, "//"), "/")
	if addr, err := netip.ParseAddr(hostPort); err == nil && addr.Is6() {
		hostPort = "[" + hostPort + "]"
	}
	scheme := "http"
	switch _, port, err := net.SplitHostPort(hostPort); {
	case err != nil && hostPort != "":
		hostPort += ":5240"
	case port == "5443" || port == "443":
		scheme = "https"
	}
	return scheme + "://" + hostPort + "/" + rest
}

func normaliseHost(u *url.URL) (string, error) {
	name, port := u.Hostname(), u.Port()
	if name == "" || strings.ContainsAny(name, " \t\"'<>\\^`{|}%") {
		return "", endpointError("has no valid host name")
	}
	if strings.HasSuffix(u.Host, ":") || port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return "", endpointError("has no valid port")
		}
	}
	host := strings.ToLower(name)
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return host, nil
}

// apiRoot returns the path of the API's root for a path that was typed.
func apiRoot(typed string) string {
	segments := strings.FieldsFunc(path.Clean("/"+typed), func(r rune) bool { return r == '/' })
	if i := slices.Index(segments, "MAAS"); i >= 0 {
		return rooted(append(segments[:i:i], "MAAS"))
	}
	for i := range len(segments) - 1 {
		if segments[i] == "api" && segments[i+1] == "2.0" {
			return rooted(segments[:i])
		}
	}
	// MAAS's own path has capitals; a small one at the end is a slip.
	if n := len(segments); n > 0 && strings.EqualFold(segments[n-1], "MAAS") {
		segments = segments[:n-1]
	}
	return rooted(append(segments[:len(segments):len(segments)], "MAAS"))
}

func rooted(segments []string) string {
	if len(segments) == 0 {
		return "/" + apiPath
	}
	return "/" + strings.Join(segments, "/") + "/" + apiPath
}

// redactUserinfo returns the typed address without what may be a password.
func redactUserinfo(typed string) string {
	if strings.Contains(typed, "@") {
		return "[redacted]"
	}
	return typed
}
