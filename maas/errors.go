package maas

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Kind says what a failure means to a caller. It is also fit for a metric label; "" is success or an error of another package.
type Kind string

// The kinds of failure.
const (
	KindNotFound       Kind = "NotFound"
	KindConflict       Kind = "Conflict"
	KindInvalid        Kind = "Invalid"
	KindUnauthorized   Kind = "Unauthorized"
	KindForbidden      Kind = "Forbidden"
	KindUnavailable    Kind = "Unavailable"
	KindOutcomeUnknown Kind = "OutcomeUnknown"
	KindNotMAAS        Kind = "NotMAAS"
)

// Sentinels for errors.Is, one for each [Kind].
const (
	// ErrNotFound: MAAS itself said that the object does not exist.
	ErrNotFound = sentinel(KindNotFound)
	// ErrConflict: the object's state, or another's, does not allow it; nothing was changed.
	ErrConflict = sentinel(KindConflict)
	// ErrInvalid: the request is wrong and stays wrong, by MAAS's word or by a check before sending; nothing was changed.
	ErrInvalid = sentinel(KindInvalid)
	// ErrUnauthorized: MAAS did not accept the API key.
	ErrUnauthorized = sentinel(KindUnauthorized)
	// ErrForbidden: the user may not do it. MAAS 3.4: a locked machine, and one of another user, answer the same without a reason.
	ErrForbidden = sentinel(KindForbidden)
	// ErrUnavailable: a read failed, or a write surely had no effect; the same call may be made again later.
	ErrUnavailable = sentinel(KindUnavailable)
	// ErrOutcomeUnknown: a write timed out, was cut off, or was answered 5xx. It may have taken effect: read, then decide.
	ErrOutcomeUnknown = sentinel(KindOutcomeUnknown)
	// ErrNotMAAS: what answered is not the MAAS API: a redirect, a web page, a wrong base URL.
	ErrNotMAAS = sentinel(KindNotMAAS)
)

// ErrClocksDiffer is the cause of an error of kind [KindUnauthorized] if it is not the API key that MAAS refused, but the time of the
// request: our clock is more than 300 seconds behind that of MAAS.
const ErrClocksDiffer = cause("the clocks of this host and of MAAS differ by more than 300 seconds")

// cause is why MAAS refused, where a kind does not tell.
type cause string

func (c cause) Error() string { return string(c) }

// sentinel is an error that stands for every [Error] of its kind.
type sentinel Kind

func (s sentinel) Error() string { return "maas: " + Kind(s).text() }

// Error is a failed call.
type Error struct {
	Kind       Kind
	Operation  string        // such as "deploy_machine"; a small fixed set
	StatusCode int           // 0 when no HTTP answer arrived
	Message    string        // one line of bounded length, free of secrets and user data
	Said       bool          // the message is what MAAS, or a proxy that answers in plain text, said, and not our own words
	RetryAfter time.Duration // what the server asked for; 0 when it did not
	Err        error         // the cause below HTTP, such as context.DeadlineExceeded; may be nil
}

// Error returns one line: the operation and the message.
func (e *Error) Error() string {
	message := cmp.Or(e.Message, textOf(e.Kind, e.Operation))
	if e.Kind == KindOutcomeUnknown {
		message += " (it may have taken effect)"
	}
	return "maas: " + strings.ReplaceAll(e.Operation, "_", " ") + ": " + message
}

// Unwrap returns the cause below HTTP, if any.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the sentinel of this error's kind.
func (e *Error) Is(target error) bool {
	s, ok := target.(sentinel)
	return ok && Kind(s) == e.Kind
}

// Words returns what went wrong in the words for people, MAAS's own where it has some: without the operation, which is for programmers, and
// without a full stop. What is wrapped around an [Error] is left out; an error of another package is left as it is.
func Words(err error) string {
	if err == nil {
		return ""
	}
	words := err.Error()
	var e *Error
	var s sentinel
	switch {
	case errors.As(err, &e):
		words = cmp.Or(e.Message, textOf(e.Kind, e.Operation))
	case errors.As(err, &s):
		words = Kind(s).text()
	case errors.Is(err, context.DeadlineExceeded):
		words = "no answer in time"
	}
	return strings.TrimRight(words, ". ")
}

// FailedWith returns what MAAS said of a failure of its own: it answered 500 or 503, and not with a web page. It is "" for any other err. What
// MAAS began before it failed may still go on: of a write, the outcome is unknown until it is looked for.
func FailedWith(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Said && (e.StatusCode == http.StatusInternalServerError || e.StatusCode == http.StatusServiceUnavailable) {
		return Words(err)
	}
	return ""
}

// KindOf returns the kind of err, or "" for nil and for errors that are not from MAAS calls.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	var s sentinel
	if errors.As(err, &s) {
		return Kind(s)
	}
	return ""
}

// textOf is what a kind of failure is called where MAAS has no words for it.
func textOf(kind Kind, operation string) string {
	// MAAS 3.4: all of these answer alike, but when a machine is only being looked for, it is not one machine's doing.
	if kind == KindForbidden && strings.HasSuffix(operation, "_machine") && operation != "allocate_machine" {
		return kind.text() + ", or the machine is locked or another user's"
	}
	return kind.text()
}

func (k Kind) text() string {
	switch k {
	case KindNotFound:
		return "not found"
	case KindConflict:
		return "conflicts with the present state"
	case KindInvalid:
		return "the request is not valid"
	case KindUnauthorized:
		return "the API key was not accepted"
	case KindForbidden:
		return "not permitted, no reason given: the user lacks the right"
	case KindUnavailable:
		return "MAAS is not available"
	case KindOutcomeUnknown:
		return "no usable answer"
	case KindNotMAAS:
		return "this is not the MAAS API"
	}
	return "failed"
}

// ConfigError says which field of a [Config] is wrong. It never holds the field's value.
type ConfigError struct {
	Field   string // Endpoint, APIKey or CAFile
	Message string
}

// Error returns one line that names the field.
func (e *ConfigError) Error() string { return "maas: " + e.Field + ": " + e.Message }
