package maas

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// credentials are the three parts of an API key.
type credentials struct {
	consumerKey, tokenKey, tokenSecret string
}

func parseAPIKey(key string) (*credentials, error) {
	const shape = "must be three parts joined by colons, consumer:token:secret, as MAAS shows it under API keys"
	key = strings.TrimSpace(key)
	if key == "" {
		return nil, &ConfigError{Field: "APIKey", Message: "is empty; it " + shape}
	}
	parts := strings.Split(key, ":")
	if len(parts) != 3 {
		return nil, &ConfigError{Field: "APIKey", Message: shape}
	}
	for _, part := range parts {
		if part == "" || strings.IndexFunc(part, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
			return nil, &ConfigError{Field: "APIKey", Message: shape}
		}
	}
	return &credentials{parts[0], parts[1], parts[2]}, nil
}

// authorization returns the header of one attempt. MAAS uses OAuth 1.0 with PLAINTEXT signatures and no consumer secret.
// Each attempt needs a nonce of its own: MAAS refuses one that it has seen.
func (c *credentials) authorization(now time.Time) string {
	var nonce [16]byte
	rand.Read(nonce[:]) // never fails, see crypto/rand
	pairs := []string{
		"oauth_version", "1.0",
		"oauth_signature_method", "PLAINTEXT",
		"oauth_consumer_key", c.consumerKey,
		"oauth_token", c.tokenKey,
		"oauth_signature", "&" + c.tokenSecret,
		"oauth_timestamp", strconv.FormatInt(now.Unix(), 10),
		"oauth_nonce", hex.EncodeToString(nonce[:]),
	}
	var header strings.Builder
	header.WriteString("OAuth ") // MAAS compares these six characters exactly
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			header.WriteString(", ")
		}
		header.WriteString(pairs[i] + `="` + percentEncode(pairs[i+1]) + `"`)
	}
	return header.String()
}

// percentEncode escapes all but RFC 3986's unreserved characters, as OAuth asks for.
func percentEncode(s string) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if ch := s[i]; onlyHas(string(rune(ch)), "-._~") {
			b.WriteByte(ch)
		} else {
			b.Write([]byte{'%', hexDigits[ch>>4], hexDigits[ch&15]})
		}
	}
	return b.String()
}
