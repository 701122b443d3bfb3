package maas

import (
	"cmp"
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
	// Before anything is looked for: marks in between would hide it.
	message = flatten(message)
	if repeats(message, r.private) {
		message = "MAAS's message is withheld, for it repeats user data"
	}
	message = cmp.Or(shorten(c.credentials().redact(message), maxMessage), textOf(kind, r.operation))
	return &Error{Kind: kind, Operation: r.operation, StatusCode: status, Message: message}
}

// redact removes the parts of the API key from a text. MAAS's parts have 18 and 32 characters; a part that is too
// short to be one of them, as in tests, is no secret and would take words apart.
func (c *credentials) redact(text string) string {
	for _, part := range []string{c.tokenSecret, c.tokenKey, c.consumerKey} {
		if len(part) < 8 {
			continue
		}
		for _, form := range []string{part, percentEncode(part), url.QueryEscape(part)} {
			text = strings.ReplaceAll(text, form, "[redacted]")
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

// flatten makes one line of a text: no control characters, valid UTF-8, single spaces.
func flatten(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError:
			return '?'
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// shorten cuts a text to at most limit bytes.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
