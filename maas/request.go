package maas

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxIDsPerRequest keeps a request's URL short enough for the proxies in front of MAAS (about 4 KB for 200 IDs).
const maxIDsPerRequest = 200

// request is one call of an operation, before it is signed.
type request struct {
	operation string
	method    string
	path      string // relative to the base URL, with the trailing slash that MAAS needs
	op        string // MAAS's name of the operation, sent in the query
	query     url.Values
	form      url.Values
	content   []byte // sent as it is, in place of the form
	anonymous bool
	mayBeNull bool   // the answer "null" is fine
	private   []byte // what no error may repeat
}

func read(operation, path string) request {
	return request{operation: operation, method: http.MethodGet, path: path}
}

func write(operation, method, path string) request {
	return request{operation: operation, method: method, path: path}
}

// isWrite says whether the call may change something in MAAS.
func (r request) isWrite() bool { return r.method != http.MethodGet }

// fields collects parameters and leaves out those that are not set.
type fields url.Values

func (f fields) values() url.Values { return url.Values(f) }

func (f fields) add(key, value string) fields {
	if value != "" {
		f[key] = append(f[key], value)
	}
	return f
}

// addEach keeps empty values: to leave one out of a filter would widen it.
func (f fields) addEach(key string, values []string) fields {
	if len(values) > 0 {
		f[key] = append(f[key], values...)
	}
	return f
}

func (f fields) addPositive(key string, value int) fields {
	if value > 0 {
		f.add(key, strconv.Itoa(value))
	}
	return f
}

func (f fields) addTrue(key string, value bool) fields {
	if value {
		f.add(key, "true")
	}
	return f
}

func invalid(operation, message string) *Error {
	return &Error{Kind: KindInvalid, Operation: operation, Message: message}
}

// checkSystemID keeps a wrong ID from changing the path, and with it the operation.
func checkSystemID(operation, systemID string) error {
	if systemID == "" || len(systemID) > 64 || !onlyHas(systemID, "-_") {
		return invalid(operation, "a system ID is letters and digits, and must not be empty")
	}
	return nil
}

// checkID refuses the IDs of records that MAAS makes up (-1) and that were never set (0).
func checkID(operation string, id int) error {
	if id < 1 {
		return invalid(operation, "the ID of a record is a positive number")
	}
	return nil
}

// onlyHas says whether s holds nothing but ASCII letters, digits and the given marks.
func onlyHas(s, marks string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(marks, r)
	}) < 0
}
