package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Parse reads a scenario in YAML or JSON. It refuses what it does not know and
// what makes no sense; the error names the fault and the field, and says what
// is allowed. Faults without a name get one.
func Parse(text []byte) (Scenario, error) {
	var s Scenario
	content, err := toJSON(text)
	if err != nil {
		return s, err
	}
	var raw struct {
		description string
		seed        int64
		faults      []json.RawMessage
	}
	fields := map[string]any{"description": &raw.description, "seed": &raw.seed, "faults": &raw.faults}
	if _, err := readFields(content, fields); err != nil {
		return s, err
	}
	s.Description, s.Seed = raw.description, raw.seed
	if s.Faults, err = decodeFaults(raw.faults); err != nil {
		return s, err
	}
	if err := s.check(); err != nil {
		return s, err
	}
	s.Faults = s.named()
	return s, nil
}

// parseFaults reads one fault, or a list of them.
func parseFaults(text []byte) ([]Fault, error) {
	content, err := toJSON(text)
	if err != nil {
		return nil, err
	}
	list := []json.RawMessage{content}
	if bytes.HasPrefix(content, []byte("[")) {
		if err := json.Unmarshal(content, &list); err != nil {
			return nil, err
		}
	}
	return decodeFaults(list)
}

// toJSON turns YAML, which JSON is too, into JSON.
func toJSON(text []byte) ([]byte, error) {
	if SeveralDocuments(text) {
		return nil, errors.New("there is more than one YAML document; have one, without a second ---")
	}
	content, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	return content, nil
}

// SeveralDocuments says whether a YAML text has more than one document: of
// those only the first would be read.
func SeveralDocuments(text []byte) bool {
	began, ended := false, false
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, " \t\r\n")
		marks := string(line) == "---" || bytes.HasPrefix(line, []byte("--- "))
		switch {
		case len(line) == 0 || line[0] == '#' || line[0] == '%' && !began:
		case began && (marks || ended):
			return true
		case string(line) == "...":
			ended = true
		default:
			began = true
		}
	}
	return false
}

func decodeFaults(list []json.RawMessage) ([]Fault, error) {
	var out []Fault
	for i, content := range list {
		fault, err := decodeFault(content)
		if err != nil {
			return nil, wrong(i, fault, err)
		}
		out = append(out, fault)
	}
	return out, nil
}

// wrong says which fault an error is about.
func wrong(i int, f Fault, err error) error {
	if f.Name == "" {
		return fmt.Errorf("faults[%d]: %w", i, err)
	}
	return fmt.Errorf("faults[%d] %q: %w", i, f.Name, err)
}

// fields are a fault's, by the names that scenarios call them.
func (f *Fault) fields() map[string]any {
	out := map[string]any{}
	for value, i := reflect.ValueOf(f).Elem(), 0; i < value.NumField(); i++ {
		name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		out[name] = value.Field(i).Addr().Interface()
	}
	return out
}

func decodeFault(content []byte) (Fault, error) {
	var f Fault
	// YAML 1.1 takes the key "on" for the truth.
	raw := map[string]json.RawMessage{}
	if json.Unmarshal(content, &raw) == nil && raw["true"] != nil && raw["on"] == nil {
		raw["on"] = raw["true"]
		delete(raw, "true")
		renamed, err := json.Marshal(raw)
		if err != nil {
			return f, err
		}
		content = renamed
	}
	given, err := readFields(content, f.fields())
	if err != nil {
		return f, err
	}
	for _, name := range []string{"for", "every", "delay", "age"} {
		if d, ok := f.fields()[name].(*Duration); ok && *d == 0 && slices.Contains(given, name) {
			return f, fmt.Errorf("%s: 0s is no time; leave it out, or give one such as \"30s\"", name)
		}
	}
	// What was written has to be allowed even if it says nothing.
	return f, f.allowed(given)
}

// readFields reads an object into the fields of these names, and returns the
// names that it had. The name of a fault is read in any case.
func readFields(content []byte, fields map[string]any) ([]string, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(content, &raw); err != nil || (raw == nil && !bytes.Equal(content, []byte("null"))) {
		return nil, fmt.Errorf("%s is not a set of fields such as %s", abridged(content), strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
	}
	if name, ok := fields["name"]; ok {
		_ = json.Unmarshal(raw["name"], name) // told below if it is wrong
	}
	given := slices.Sorted(maps.Keys(raw))
	for _, name := range given {
		target, known := fields[name]
		if !known {
			return nil, fmt.Errorf("%s: no such field%s; there are %s", name, didYouMean(name, slices.Sorted(maps.Keys(fields))),
				strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		if bytes.Equal(raw[name], []byte("null")) && name != "faults" {
			return nil, fmt.Errorf("%s: has no value; leave it out, or give one", name)
		}
		if err := json.Unmarshal(raw[name], target); err != nil {
			return nil, fmt.Errorf("%s: %s", name, explain(err, raw[name]))
		}
	}
	return given, nil
}

// explain says what is wrong with a value, without the words of Go.
func explain(err error, value []byte) string {
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	wanted := "a list"
	switch kind.Type.Kind() {
	case reflect.String:
		wanted = "a text"
	case reflect.Bool:
		wanted = "true or false"
	case reflect.Int, reflect.Int64:
		wanted = "a whole number"
	case reflect.Float64:
		wanted = "a number"
	case reflect.Map:
		wanted = "names and texts"
	}
	return fmt.Sprintf("%s is not %s%s", abridged(value), wanted, quoteHint(value))
}

// quoteHint reminds of the texts that YAML takes for something else.
func quoteHint(value []byte) string {
	if len(value) > 0 && !bytes.ContainsAny(value[:1], `"[{`) {
		return "; a text that YAML takes for a number or a truth has to stand in quotes"
	}
	return ""
}

func abridged(value []byte) string {
	const most = 60
	if len(value) > most {
		return string(value[:most]) + "…"
	}
	return string(value)
}
