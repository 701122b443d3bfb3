package simulator

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

func TestAnswersAreIndentedAsJSONIs(t *testing.T) {
	t.Parallel()
	deep := any("x")
	for range 40 {
		deep = []any{deep, map[string]any{}}
	}
	values := []any{
		nil, true, 1.5, "", "a, b: {c} [d]", `"\"`, `\`, "<&>\u2028\n", []any{}, map[string]any{}, []any{[]any{}, map[string]any{"a": []any{}}},
		map[string]any{"a": []int{1, 2}, "b": map[string]any{"{": "}", "\"": "\\"}, "c": nil}, deep,
	}
	for _, v := range values {
		want := indentedByTheLibrary(t, v)
		if got := pretty(v); !bytes.Equal(got, want) {
			t.Errorf("%v is\n%s\nwant\n%s", v, got, want)
		}
	}
	for n := range len(values) {
		if got, want := prettyList(slices.Clone(values[:n])), indentedByTheLibrary(t, values[:n]); !bytes.Equal(got, want) {
			t.Errorf("a list of %d is\n%s\nwant\n%s", n, got, want)
		}
	}
}

func indentedByTheLibrary(t *testing.T, v any) []byte {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "    ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
