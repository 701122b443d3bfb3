package simulator

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// The content types that MAAS sends.
const (
	typeJSON     = "application/json; charset=utf-8"
	typeText     = "text/plain; charset=utf-8"
	typePlain    = "text/plain"
	typeHTML     = "text/html; charset=utf-8"
	typeBareJSON = "application/json"
	typeOctet    = "application/octet-stream"
)

// answer is the response to a request that succeeded.
type answer struct {
	status      int
	contentType string
	body        []byte
	// public answers do not depend on a session.
	public bool
	// list holds machines that are still to be written into body: that takes long
	// when there are many, and needs no lock.
	list []*machineJSON
	// machines is how many the answer lists: lists take their time for each.
	machines int
}

// refusal is the response to a request that failed. What the request changed
// is undone.
type refusal struct {
	status      int
	contentType string
	body        string
	headers     map[string]string
	// regular answers come from a handler, not from an exception: they carry
	// the API's usual headers, and the request's nonce is spent.
	regular bool
	// bare answers carry no Vary header at all.
	bare bool
}

// ok answers v as MAAS prints it: indented by four spaces.
func ok(v any) (*answer, *refusal) {
	return &answer{status: http.StatusOK, contentType: typeJSON, body: pretty(v)}, nil
}

// okMachines answers a list of machines.
func okMachines(list []*machineJSON) (*answer, *refusal) {
	return &answer{status: http.StatusOK, contentType: typeJSON, list: list, machines: len(list)}, nil
}

// print writes what is still to be written.
func (a *answer) print() {
	if a.list != nil {
		a.body, a.list = prettyList(a.list), nil
	}
}

// deleted is the answer to what leaves nothing to show.
func deleted() (*answer, *refusal) {
	return &answer{status: http.StatusNoContent, contentType: typePlain}, nil
}

// text refuses with a line of plain text.
func text(status int, body string) *refusal {
	return &refusal{status: status, contentType: typeText, body: body}
}

// handled refuses as MAAS's handlers do, which answer by themselves in place of
// raising an exception.
func handled(status int, body string) *refusal {
	return &refusal{status: status, contentType: typePlain, body: body, regular: true}
}

// notFound is the answer for an object that does not exist; kind is its name
// in MAAS's data model.
func notFound(kind string) *refusal {
	return handled(http.StatusNotFound, "No "+kind+" matches the given query.")
}

// forbidden is the answer to somebody who may not touch an object.
func forbidden() *refusal { return text(http.StatusForbidden, "") }

func conflict(body string) *refusal { return text(http.StatusConflict, body) }

func compact(s string) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	// A string always encodes.
	_ = enc.Encode(s)
	return strings.TrimSuffix(buf.String(), "\n")
}

// pyRepr prints a text as Python's repr does, as MAAS's messages contain it.
func pyRepr(s string) string {
	quote := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = `"`
	}
	s = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)
	if quote == "'" {
		s = strings.ReplaceAll(s, "'", `\'`)
	}
	return quote + s + quote
}

func pyReprList(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = pyRepr(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func (r *refusal) write(w http.ResponseWriter) {
	h := w.Header()
	if r.contentType != "" {
		h.Set("Content-Type", r.contentType)
	}
	switch {
	case r.bare:
	case r.regular:
		regularHeaders(h)
	default:
		h.Set("Vary", "Cookie")
	}
	for key, value := range r.headers {
		h.Set(key, value)
	}
	w.WriteHeader(r.status)
	_, _ = w.Write([]byte(r.body)) // the client may be gone
}

func (a *answer) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	regularHeaders(h)
	if a.public {
		h.Set("Vary", "Authorization")
	}
	w.WriteHeader(a.status)
	if a.status != http.StatusNoContent {
		_, _ = w.Write(a.body) // the client may be gone
	}
}

func regularHeaders(h http.Header) {
	h.Set("Vary", "Authorization, Cookie")
	h.Set("X-MAAS-API-Hash", apiHash)
}

// apiHash stands where MAAS puts a hash of its API description.
const apiHash = "5155c1e4a9a7f3d2b0c6e8f10a2b4c6d8e0f1a3c"
