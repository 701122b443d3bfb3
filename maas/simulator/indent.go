package simulator

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// pretty is JSON as MAAS prints it: indented by four spaces.
func pretty(v any) []byte {
	compact := encode(new(bytes.Buffer), v)
	return appendIndented(make([]byte, 0, 5*len(compact)/2), compact, 0)
}

// prettyList is the same for a list, which may be long: it lets go of each entry
// once that is written.
func prettyList[T any](list []T) []byte {
	// After so many the size of an entry is known well enough to make room for all.
	const sample = 50
	if len(list) == 0 {
		return []byte("[]")
	}
	var out []byte
	var buf bytes.Buffer
	for i, v := range list {
		before := byte(',')
		if i == 0 {
			before = '['
		}
		out = appendNewline(append(out, before), 1)
		out = appendIndented(out, encode(&buf, v), 1)
		var nothing T
		list[i] = nothing
		if rest, each := len(list)-i, len(out)/(i+1); i >= sample && cap(out)-len(out) < 2*each {
			out = slices.Grow(out, each*rest+each*rest/20)
		}
	}
	return append(appendNewline(out, 0), ']')
}

// encode is JSON without blanks, in a buffer that is used for nothing else until
// the result has been.
func encode(buf *bytes.Buffer, v any) []byte {
	buf.Reset()
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		// Only values of this package's own types get here.
		return []byte(strconv.Quote(err.Error()))
	}
	return bytes.TrimRight(buf.Bytes(), "\n")
}

// appendIndented adds JSON that has no blanks, with them.
func appendIndented(out, compact []byte, depth int) []byte {
	for i := 0; i < len(compact); i++ {
		switch c := compact[i]; c {
		case '"':
			end := i + stringLength(compact[i:])
			out = append(out, compact[i:end]...)
			i = end - 1
		case '{', '[':
			out = append(out, c)
			if next := compact[i+1]; next == '}' || next == ']' {
				out = append(out, next)
				i++
				continue
			}
			depth++
			out = appendNewline(out, depth)
		case '}', ']':
			depth--
			out = append(appendNewline(out, depth), c)
		case ',':
			out = appendNewline(append(out, c), depth)
		case ':':
			out = append(out, ": "...)
		default:
			out = append(out, c)
		}
	}
	return out
}

// stringLength is how long the JSON string is with which s begins.
func stringLength(s []byte) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

func appendNewline(out []byte, depth int) []byte {
	const blanks = "                                                                "
	out = append(out, '\n')
	for n := depth * 4; n > 0; n -= len(blanks) {
		out = append(out, blanks[:min(n, len(blanks))]...)
	}
	return out
}
