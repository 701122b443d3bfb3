package maas

import (
	"net/http"
	"net/url"
	"strings"
)

// hintScheme names the base URL with another scheme.
func (c *Client) hintScheme(scheme string) string {
	_, rest, _ := strings.Cut(c.root(), "://")
	return "the endpoint is probably " + scheme + "://" + rest
}

// root is the base URL as people write it, without the API's part.
func (c *Client) root() string {
	return strings.TrimSuffix(strings.TrimSuffix(c.base, apiPath), "/")
}

func (c *Client) baseHint() string {
	return "check the endpoint " + c.root() + " (" + endpointExample + ")"
}

// redirectMessage names the base URL that a redirect points at, if it points at the same place of another MAAS URL.
func (c *Client) redirectMessage(resp *http.Response) string {
	location, err := resp.Location()
	if err != nil || location.Host == "" {
		return "the address redirects elsewhere: " + c.baseHint()
	}
	target := url.URL{Scheme: location.Scheme, Host: location.Host, Path: location.Path}
	// The same path below another base, as MAAS's plain port does once TLS is on.
	if _, asked, ok := strings.Cut(resp.Request.URL.Path, "/"+apiPath); ok {
		if base, ok := strings.CutSuffix(target.Path, "/"+apiPath+asked); ok {
			there := url.URL{Scheme: target.Scheme, Host: target.Host, Path: base}
			return "the address redirects: set the endpoint to " + there.String()
		}
	}
	if before, _, ok := strings.Cut(target.Path, "/MAAS/"); ok {
		here := url.URL{Scheme: target.Scheme, Host: target.Host, Path: before + "/MAAS"}
		if here.String() != c.root() {
			return "the address redirects: set the endpoint to " + here.String()
		}
	}
	return "the address redirects to " + target.Scheme + "://" + target.Host + ": " + c.baseHint()
}
