package simulator

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // OAuth 1.0 has no other
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// The example of RFC 5849, 3.4.1.1.
func TestSignatureBaseIsThatOfTheStandard(t *testing.T) {
	t.Parallel()
	const body = "c2&a3=2+q"
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://EXAMPLE.COM:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b", strings.NewReader(body))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	oauth := map[string]string{
		"oauth_consumer_key": "9djdj82h48djs9d2", "oauth_token": "kkk9d7dh3k39sjv7", "oauth_signature_method": "HMAC-SHA1",
		"oauth_timestamp": "137131201", "oauth_nonce": "7d8f3e4a", "oauth_signature": "bYT5CMsGcbgUdFHObYMEfcx6bsw=",
	}
	const want = "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D%26" +
		"oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7"
	if got := signatureBase(req, oauth, parsePairs(body)); got != want {
		t.Errorf("base string\n%s\nwant\n%s", got, want)
	}
}

// hmacRequest is signed by HMAC-SHA1 with a secret, as clients do it.
func hmacRequest(w *world, secret, nonce string) *http.Request {
	req := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, "http://maas:5240"+apiPrefix+"/zones/?x=1", strings.NewReader("name=zh&description=a+b"))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	stamp := strconv.FormatInt(w.clock.Now().Unix(), 10)
	list := "description=a%20b&name=zh&oauth_consumer_key=ADMINC&oauth_nonce=" + nonce + "&oauth_signature_method=HMAC-SHA1&oauth_timestamp=" + stamp +
		"&oauth_token=ADMINT&oauth_version=1.0&x=1"
	mac := hmac.New(sha1.New, []byte("&"+secret))
	_, _ = mac.Write([]byte("POST&http%3A%2F%2Fmaas%3A5240%2FMAAS%2Fapi%2F2.0%2Fzones%2F&" + strings.ReplaceAll(url.QueryEscape(list), "+", "%20")))
	req.Header.Set("Authorization", `OAuth realm="", oauth_version="1.0", oauth_signature_method="HMAC-SHA1", oauth_consumer_key="ADMINC", oauth_token="ADMINT", oauth_signature="`+
		url.QueryEscape(base64.StdEncoding.EncodeToString(mac.Sum(nil)))+`", oauth_timestamp="`+stamp+`", oauth_nonce="`+nonce+`"`)
	return req
}

func TestHMACSignaturesAreAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, c := range []struct {
		name, secret string
		change       func(*http.Request)
		status       int
	}{
		{"right", "ADMINS", nil, http.StatusOK},
		{"wrong secret", "OTHER", nil, http.StatusUnauthorized},
		{"another query than was signed", "ADMINS", func(req *http.Request) { req.URL.RawQuery = "x=2" }, http.StatusUnauthorized},
		{"another host than was signed", "ADMINS", func(req *http.Request) { req.Host = "other:5240" }, http.StatusUnauthorized},
	} {
		req := hmacRequest(w, c.secret, "h"+strconv.Itoa(len(c.name)))
		if c.change != nil {
			c.change(req)
		}
		rec := httptest.NewRecorder()
		w.handler.ServeHTTP(rec, req)
		if rec.Code != c.status {
			t.Errorf("%s: %d %s, want %d", c.name, rec.Code, rec.Body, c.status)
		}
		if rec.Code == http.StatusUnauthorized && !strings.HasPrefix(rec.Body.String(), "Authorization Error: 'Invalid signature. Expected signature base string: POST&http%3A%2F%2F") {
			t.Errorf("%s: %s", c.name, rec.Body)
		}
	}
}
