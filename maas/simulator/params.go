package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// params are the fields of a form or a query, in the order in which they came.
type params struct {
	keys   []string
	values map[string][]string
}

func (p *params) add(key, value string) {
	if p.values == nil {
		p.values = map[string][]string{}
	}
	if _, ok := p.values[key]; !ok {
		p.keys = append(p.keys, key)
	}
	p.values[key] = append(p.values[key], value)
}

// get is the last value of a field, as in MAAS.
func (p params) get(key string) string {
	list := p.values[key]
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

func (p params) has(key string) bool { _, ok := p.values[key]; return ok }

func (p params) all(key string) []string { return p.values[key] }

// parsePairs reads key=value pairs joined by &, keeping their order.
func parsePairs(raw string) params {
	var p params
	for _, pair := range strings.Split(raw, "&") {
		if pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		k, err1 := url.QueryUnescape(key)
		v, err2 := url.QueryUnescape(value)
		if err1 == nil && err2 == nil {
			p.add(k, v)
		}
	}
	return p
}

// body is what a request carried.
type body struct {
	form params
	// json says that the fields came as a JSON object; unknown that the
	// content type is none that MAAS reads.
	json, unknown bool
	// multipart says that the fields came as parts.
	multipart bool
	// raw is the content of a request that carries content and no fields.
	raw []byte
	// size is how many bytes the request carried.
	size int
}

// readBody takes a request's whole body in, as nginx does in front of MAAS. With
// content the body is no form, whatever its content type says, but JSON is
// read all the same, and multipart takes the body away.
func readBody(req *http.Request, content bool) (body, *refusal) {
	raw, err := io.ReadAll(http.MaxBytesReader(nil, req.Body, maxBody))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return body{}, nginxAnswer(http.StatusRequestEntityTooLarge).answer()
		}
		return body{}, badRequest()
	}
	out, refused := parseBody(raw, req.Header.Get("Content-Type"), content)
	out.size = len(raw)
	return out, refused
}

func parseBody(raw []byte, header string, content bool) (body, *refusal) {
	kind, args, err := mime.ParseMediaType(header)
	switch {
	case len(raw) == 0:
		return body{}, nil
	case content && kind == "multipart/form-data":
		return body{multipart: true}, nil
	case content && kind != "application/json":
		return body{raw: raw}, nil
	case kind == "application/x-www-form-urlencoded":
		return body{form: parsePairs(string(raw))}, nil
	case kind == "multipart/form-data" && err == nil:
		return readMultipart(raw, args["boundary"])
	case kind == "application/json":
		return readJSON(raw)
	default:
		return body{unknown: true}, nil
	}
}

// badRequest is the answer to a body that cannot be read.
func badRequest() *refusal { return handled(http.StatusBadRequest, "Bad Request") }

// readJSON turns an object into fields.
func readJSON(raw []byte) (body, *refusal) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	var object map[string]any
	if err := dec.Decode(&object); err != nil {
		return body{}, badRequest()
	}
	out := body{json: true, raw: raw}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch value := object[key].(type) {
		case nil:
		case []any:
			for _, item := range value {
				out.form.add(key, fmt.Sprint(item))
			}
		default:
			out.form.add(key, fmt.Sprint(value))
		}
	}
	return out, nil
}

func readMultipart(raw []byte, boundary string) (body, *refusal) {
	var out body
	parts, err := splitMultipart(raw, boundary)
	if err != nil {
		return body{}, badRequest()
	}
	for _, part := range parts {
		out.form.add(part[0], part[1])
	}
	return out, nil
}

// boolean reads an optional flag as MAAS's StringBool does.
func (p params) boolean(key string) (bool, *refusal) {
	if !p.has(key) {
		return false, nil
	}
	switch strings.ToLower(strings.TrimSpace(p.get(key))) {
	case "true", "t", "yes", "y", "on", "1":
		return true, nil
	case "false", "f", "no", "n", "off", "0", "":
		return false, nil
	}
	return false, text(http.StatusBadRequest, "Invalid "+key+": Value should be 'true' or 'false'")
}

// formBoolean reads a flag as a Django form does: everything but a few words
// is true.
func (p params) formBoolean(key string) bool {
	switch p.get(key) {
	case "", "False", "false", "0":
		return false
	}
	return true
}

// integer reads an optional number.
func (p params) integer(key string, otherwise int) (int, *refusal) {
	if !p.has(key) {
		return otherwise, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(p.get(key)))
	if err != nil {
		return 0, text(http.StatusBadRequest, "Invalid "+key+": Please enter an integer value")
	}
	return n, nil
}

func (p params) urlValues() url.Values {
	out := url.Values{}
	for key, list := range p.values {
		out[key] = list
	}
	return out
}

// mandatory refuses a form without a field.
func (p params) mandatory(field string) *refusal {
	if p.has(field) {
		return nil
	}
	return missing(field)
}

func missing(field string) *refusal { return text(http.StatusBadRequest, "No provided "+field+"!") }
