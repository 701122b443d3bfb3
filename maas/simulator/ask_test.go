package simulator

import (
	"encoding/json"
	"testing"
)

// reply is what a world answered.
type reply struct {
	status int
	body   string
}

// ask sends a request as a user; a GET's pairs go into the query.
func (w *world) ask(auth, method, path, op string, pairs ...[2]string) reply {
	w.t.Helper()
	var ex exchange
	ex.Request.Auth, ex.Request.Method, ex.Request.Path = auth, method, apiPrefix+path
	if op != "" {
		ex.Request.Query = [][2]string{{"op", op}}
	}
	if method == "GET" || method == "DELETE" {
		ex.Request.Query = append(ex.Request.Query, pairs...)
	} else {
		ex.Request.Form = pairs
	}
	got := w.send(&ex)
	return reply{got.Code, got.Body.String()}
}

// wants checks a status and a whole body.
func (r reply) wants(t *testing.T, status int, body string) {
	t.Helper()
	if r.status != status || r.body != body {
		t.Errorf("%d %s, want %d %s", r.status, r.body, status, body)
	}
}

// decoded reads a reply that must be a success.
func decoded[T any](t *testing.T, r reply) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(r.body), &out); err != nil || r.status != 200 {
		t.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	return out
}
