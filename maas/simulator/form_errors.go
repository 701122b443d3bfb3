package simulator

import (
	"net/http"
	"strconv"
	"strings"
)

// What MAAS's forms say is wrong with a field, whichever it is.
const (
	required     = "This field is required."
	badValue     = "Enter a valid value."
	notWhole     = "Enter a whole number."
	notAnAddress = "Enter a valid IPv4 or IPv6 address."
	// badChoice is about objects, which go by number in a form.
	badChoice = "Select a valid choice. That choice is not one of the available choices."
)

func badChoiceOf(value string) string {
	return "Select a valid choice. " + value + " is not one of the available choices."
}

// notOneOf is about a value that is none of a few; what is the field in words.
func notOneOf(value, what string, choices []string) string {
	quoted := make([]string, len(choices))
	for i, choice := range choices {
		quoted[i] = "'" + choice + "'"
	}
	return pyRepr(value) + " is not a valid " + what + ".  It should be one of: " + strings.Join(quoted, ", ") + "."
}

func tooSmall(least int) string {
	return "Ensure this value is greater than or equal to " + strconv.Itoa(least) + "."
}

func tooLarge(most int) string {
	return "Ensure this value is less than or equal to " + strconv.Itoa(most) + "."
}

func tooManyLetters(most, has int) string {
	return "Ensure this value has at most " + strconv.Itoa(most) + " characters (it has " + strconv.Itoa(has) + ")."
}

// formErrors collects what is wrong with a form, by field, in order.
type formErrors struct {
	fields   []string
	messages map[string][]string
}

// allFields is the field of errors that concern the form as a whole.
const allFields = "__all__"

func (e *formErrors) add(field string, messages ...string) {
	if e.messages == nil {
		e.messages = map[string][]string{}
	}
	if _, ok := e.messages[field]; !ok {
		e.fields = append(e.fields, field)
	}
	e.messages[field] = append(e.messages[field], messages...)
}

// refusal is nil when nothing is wrong.
func (e *formErrors) refusal() *refusal {
	if len(e.fields) == 0 {
		return nil
	}
	var buf strings.Builder
	buf.WriteByte('{')
	for i, field := range e.fields {
		if i > 0 {
			buf.WriteString(", ")
		}
		buf.WriteString(compact(field) + ": [")
		for j, message := range e.messages[field] {
			if j > 0 {
				buf.WriteString(", ")
			}
			buf.WriteString(compact(message))
		}
		buf.WriteByte(']')
	}
	buf.WriteByte('}')
	return &refusal{status: http.StatusBadRequest, contentType: typeJSON, body: buf.String()}
}

func invalid(field string, messages ...string) *refusal {
	var e formErrors
	e.add(field, messages...)
	return e.refusal()
}
