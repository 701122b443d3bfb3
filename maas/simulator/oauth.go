package simulator

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// clockThreshold is how many seconds old a request's timestamp may be.
const clockThreshold = 300

// oauthRequired are the parameters without which a request counts as one
// without credentials.
func oauthRequired() []string {
	return []string{"oauth_consumer_key", "oauth_token", "oauth_signature", "oauth_signature_method", "oauth_timestamp", "oauth_nonce"}
}

// oauthParams finds the OAuth parameters of a request. found is false when it
// carries none, and then it is anonymous. MAAS 3.x: the test for presence
// looks for the names as substrings of the header.
func oauthParams(req *http.Request) (values map[string]string, found bool, refused *refusal) {
	header := req.Header.Get("Authorization")
	query := req.URL.RawQuery
	inHeader, inQuery := true, true
	for _, name := range oauthRequired() {
		inHeader = inHeader && strings.Contains(header, name)
		inQuery = inQuery && strings.Contains(query, name)
	}
	if !inHeader && !inQuery {
		return nil, false, nil
	}
	values = map[string]string{}
	if inHeader {
		if !strings.HasPrefix(header, "OAuth ") {
			return nil, false, text(http.StatusInternalServerError, "'NoneType' object has no attribute 'verify_request'")
		}
		for _, part := range strings.Split(header[len("OAuth "):], ",") {
			if strings.Contains(part, "realm") {
				continue
			}
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			value = strings.Trim(value, `"`)
			if plain, err := url.PathUnescape(value); err == nil {
				value = plain
			}
			values[name] = value
		}
	}
	pairs := parsePairs(query)
	for _, name := range pairs.keys {
		if strings.HasPrefix(name, "oauth_") {
			values[name] = pairs.get(name)
		}
	}
	return values, true, nil
}

// authenticate checks a request's credentials in MAAS's order, and returns the
// nonce that is spent if the request runs. Without credentials it returns
// neither a token nor a refusal. form is what the request's body held.
func (t *tx) authenticate(req *http.Request, form params, arrived arrival) (*token, string, *refusal) {
	oauth, found, refused := oauthParams(req)
	if !found || refused != nil {
		return nil, "", refused
	}
	if version, ok := oauth["oauth_version"]; ok && version != "1.0" {
		return nil, "", unauthorized(pyRepr("OAuth version " + version + " not supported."))
	}
	consumer, ok := t.tokens.find(func(k *token) bool { return k.consumer == oauth["oauth_consumer_key"] })
	if !ok {
		return nil, "", unauthorized("Invalid API key.")
	}
	key, ok := t.tokens.get(oauth["oauth_token"])
	if !ok {
		return nil, "", unauthorized(pyRepr("Invalid access token: " + oauth["oauth_token"]))
	}
	if refused := t.checkTimestamp(oauth["oauth_timestamp"]); refused != nil {
		return nil, "", refused
	}
	nonce := consumer.consumer + "&" + key.key + "&" + oauth["oauth_nonce"]
	if spent, used := t.nonces[nonce]; used && spent.number <= arrived.nonces {
		return nil, "", unauthorized(pyRepr("Nonce already used: " + oauth["oauth_nonce"]))
	}
	if refused := checkSignature(req, oauth, form, key); refused != nil {
		return nil, "", refused
	}
	if key.owner != nil && key.owner.disabled {
		return nil, "", text(http.StatusForbidden, "User is not allowed access to this API.")
	}
	return key, nonce, nil
}

func (t *tx) checkTimestamp(given string) *refusal {
	stamp, err := strconv.ParseInt(strings.TrimSpace(given), 10, 64)
	if err != nil {
		return text(http.StatusInternalServerError, "invalid literal for int() with base 10: "+pyRepr(given))
	}
	now := t.r.clientTime().Unix()
	if now-stamp > clockThreshold {
		return unauthorized(pyRepr(fmt.Sprintf("Expired timestamp: given %d and now %d has a greater difference than threshold %d", stamp, now, clockThreshold)))
	}
	return nil
}

// fewNonces are not worth looking for old ones among them.
const fewNonces = 10_000

// spend remembers a nonce until its timestamp would be too old anyway.
func (t *tx) spend(nonce string) {
	if nonce == "" {
		return
	}
	now := t.r.clientTime()
	if len(t.nonces) >= t.manyNonces {
		for old, spent := range t.nonces {
			if now.Sub(spent.at) > clockThreshold*time.Second {
				delete(t.nonces, old)
			}
		}
		// As many again may come before it is worth another look.
		t.manyNonces = max(fewNonces, 2*len(t.nonces))
	}
	t.spentNonces++
	t.nonces[nonce] = spentNonce{now, t.spentNonces}
}

func unauthorized(message string) *refusal {
	return &refusal{
		status: http.StatusUnauthorized, contentType: typeHTML, body: "Authorization Error: " + message,
		headers: map[string]string{"WWW-Authenticate": `OAuth realm="OAuth"`},
	}
}

// unauthenticated is the answer to a request without credentials.
func unauthenticated() *refusal {
	return handled(http.StatusUnauthorized, "Forbidden")
}
