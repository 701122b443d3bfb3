package simulator

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // OAuth 1.0 has no other
	"encoding/base64"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// checkSignature compares a request's signature with that of its key, by either
// of the methods that MAAS knows. A consumer's secret is empty.
func checkSignature(req *http.Request, oauth map[string]string, form params, key *token) *refusal {
	secret := "&" + key.secret
	var expected, base string
	switch method := oauth["oauth_signature_method"]; method {
	case "PLAINTEXT":
		expected, base = secret, secret
	case "HMAC-SHA1":
		base = signatureBase(req, oauth, form)
		mac := hmac.New(sha1.New, []byte(secret))
		_, _ = mac.Write([]byte(base)) // never fails
		expected = base64.StdEncoding.EncodeToString(mac.Sum(nil))
	default:
		return unauthorized(pyRepr("Signature method " + method + " not supported try one of the following: PLAINTEXT, HMAC-SHA1"))
	}
	signature, ok := oauth["oauth_signature"]
	if !ok {
		return unauthorized(pyRepr("Missing signature."))
	}
	if !hmac.Equal([]byte(signature), []byte(expected)) {
		return unauthorized(pyRepr("Invalid signature. Expected signature base string: " + base))
	}
	return nil
}

// signatureBase is what an HMAC signs (RFC 5849, 3.4.1): method, URL, and all
// parameters of header, query and form.
func signatureBase(req *http.Request, oauth map[string]string, form params) string {
	pairs := [][2]string{}
	for name, value := range oauth {
		if name != "oauth_signature" {
			pairs = append(pairs, [2]string{oauthEscape(name), oauthEscape(value)})
		}
	}
	lists := []params{parsePairs(req.URL.RawQuery)}
	if kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err == nil && kind == "application/x-www-form-urlencoded" {
		lists = append(lists, form)
	}
	for _, list := range lists {
		for _, name := range list.keys {
			if _, counted := oauth[name]; counted {
				continue
			}
			for _, value := range list.all(name) {
				pairs = append(pairs, [2]string{oauthEscape(name), oauthEscape(value)})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]string) int {
		if order := strings.Compare(a[0], b[0]); order != 0 {
			return order
		}
		return strings.Compare(a[1], b[1])
	})
	joined := make([]string, len(pairs))
	for i, pair := range pairs {
		joined[i] = pair[0] + "=" + pair[1]
	}
	return strings.ToUpper(req.Method) + "&" + oauthEscape(signedURL(req)) + "&" + oauthEscape(strings.Join(joined, "&"))
}

// signedURL is the request's URL without query, and without a port that goes
// without saying.
func signedURL(req *http.Request) string {
	scheme, port := "http", ":80"
	if req.TLS != nil {
		scheme, port = "https", ":443"
	}
	return scheme + "://" + strings.TrimSuffix(strings.ToLower(req.Host), port) + req.URL.EscapedPath()
}

// oauthEscape leaves letters, digits and -._~ as they are.
func oauthEscape(s string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for _, b := range []byte(s) {
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', strings.IndexByte("-._~", b) >= 0:
			out.WriteByte(b)
		default:
			out.Write([]byte{'%', hex[b>>4], hex[b&15]})
		}
	}
	return out.String()
}
