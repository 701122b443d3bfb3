package simulator

import (
	"fmt"
	"net/http"
	"strings"
)

// accountOperations are the calls with which users keep their own keys.
func accountOperations() []operation {
	return []operation{
		{http.MethodGet, "/account/", "list_authorisation_tokens", users, listTokens, ""},
		{http.MethodPost, "/account/", "create_authorisation_token", users, createToken, "Makes no audit event"},
		{http.MethodPost, "/account/", "update_token_name", users, renameToken, "Makes no audit event"},
		{http.MethodPost, "/account/", "delete_authorisation_token", users, deleteToken, "Makes no audit event"},
	}
}

// unnamedToken is what MAAS calls a key whose maker gave it no name.
const unnamedToken = "MAAS consumer"

func (k *token) apiKey() string { return k.consumer + ":" + k.key + ":" + k.secret }

func listTokens(c *call) (*answer, *refusal) {
	type tokenJSON struct {
		Name  string `json:"name"`
		Token string `json:"token"`
	}
	out := []tokenJSON{}
	for _, k := range c.tokens.all() {
		if k.owner != nil && k.owner.name == c.user.name {
			out = append(out, tokenJSON{k.name, k.apiKey()})
		}
	}
	return ok(out)
}

// createToken makes a key that works at once. The answer is in one line.
func createToken(c *call) (*answer, *refusal) {
	k := c.drawToken()
	k.owner, k.name = c.user, unnamedToken
	if c.form.has("name") {
		k.name = c.form.get("name")
	}
	insert(c.tx, c.tokens, k.key, k)
	line := fmt.Sprintf(`{"token_key": %s, "token_secret": %s, "consumer_key": %s, "name": %s}`,
		compact(k.key), compact(k.secret), compact(k.consumer), compact(k.name))
	return &answer{status: http.StatusOK, contentType: typeJSON, body: []byte(line)}, nil
}

// drawToken makes a key from the region's seed, in the form that MAAS's have.
func (t *tx) drawToken() *token {
	return &token{consumer: t.r.drawID(keyLetters, 18), key: t.r.drawID(keyLetters, 18), secret: t.r.drawID(keyLetters, 32)}
}

// renameToken takes a whole key or its middle part.
func renameToken(c *call) (*answer, *refusal) {
	for _, field := range []string{"token", "name"} {
		if refused := c.form.mandatory(field); refused != nil {
			return nil, refused
		}
	}
	key := c.form.get("token")
	if parts := strings.Split(key, ":"); len(parts) == 3 {
		key = parts[1]
	}
	k, refused := c.ownToken(key)
	if refused != nil {
		return nil, refused
	}
	edit(c.tx, k).name = c.form.get("name")
	return &answer{status: http.StatusAccepted, contentType: typePlain, body: []byte("Accepted")}, nil
}

// deleteToken ends a key, also the one that the request came with.
func deleteToken(c *call) (*answer, *refusal) {
	if refused := c.form.mandatory("token_key"); refused != nil {
		return nil, refused
	}
	k, refused := c.ownToken(c.form.get("token_key"))
	if refused != nil {
		return nil, refused
	}
	remove(c.tx, c.tokens, k.key)
	return deleted()
}

func (c *call) ownToken(key string) (*token, *refusal) {
	if k, ok := c.tokens.get(key); ok && k.owner != nil && k.owner.name == c.user.name {
		return k, nil
	}
	return nil, notFound("Token")
}
