package maas

import (
	"encoding/base64"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMessage bounds an error's message, in bytes.
const maxMessage = 500

// newError makes an error whose message is one line, bounded, and free of the API key and of the request's user data.
func (c *Client) newError(r request, kind Kind, status int, message string) *Error {
	if repeats(message, r.private) {
		message = "MAAS's message is withheld, for it repeats user data"
	}
	message = c.credentials.redact(message)
	return &Error{Kind: kind, Operation: r.operation, StatusCode: status, Message: oneLine(message, maxMessage)}
}

// redact removes the parts of the API key from a text.
func (c credentials) redact(text string) string {
	for _, part := range []string{c.tokenSecret, c.tokenKey, c.consumerKey} {
		for _, form := range []string{part, percentEncode(part), url.QueryEscape(part)} {
			if form != "" {
				text = strings.ReplaceAll(text, form, "[redacted]")
			}
		}
	}
	return text
}

// leakWindow is how many bytes of user data in a row are a leak: less than any token or key, more than words in common.
const leakWindow = 12

// repeats says whether the text holds a piece of private data, plain or in base64.
func repeats(text string, private []byte) bool {
	if len(private) == 0 || text == "" {
		return false
	}
	text = text[:min(len(text), maxErrorAnswer)]
	for _, form := range []string{string(private), base64.StdEncoding.EncodeToString(private)} {
		window := min(leakWindow, len(form))
		pieces := make(map[string]struct{}, len(text))
		for i := 0; i+window <= len(text); i++ {
			pieces[text[i:i+window]] = struct{}{}
		}
		for i := 0; i+window <= len(form); i++ {
			if _, found := pieces[form[i:i+window]]; found {
				return true
			}
		}
	}
	return false
}

// oneLine makes a text fit for a condition: one line, no control characters, valid UTF-8, at most limit bytes.
func oneLine(text string, limit int) string {
	text = text[:min(len(text), 4*limit)]
	text = strings.ToValidUTF8(text, "?")
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
