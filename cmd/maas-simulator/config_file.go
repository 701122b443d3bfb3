package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator/scenario"
)

// readConfig reads a region's description. Errors say where in the file
// something is wrong.
func readConfig(path string) (simulator.Config, error) {
	var cfg simulator.Config
	content, err := os.ReadFile(path)
	if err != nil {
		return cfg, fmt.Errorf("read the configuration: %w", err)
	}
	if scenario.SeveralDocuments(content) {
		return cfg, fmt.Errorf("%s: there is more than one YAML document; have one, without a second ---", path)
	}
	err = yaml.UnmarshalStrict(content, &cfg)
	if err == nil {
		return cfg, nil
	}
	if where := placeOfError(content); where != "" {
		return cfg, fmt.Errorf("%s: %s: %s", path, where, withoutDecoders(err))
	}
	return cfg, fmt.Errorf("%s: %s", path, withoutDecoders(err))
}

// placeOfError finds the field, or the entry of a list, that cannot be read by
// itself; "" if there is none, or if it is the field's name that is wrong.
func placeOfError(content []byte) string {
	var fields map[string]json.RawMessage
	if yaml.Unmarshal(content, &fields) != nil {
		return ""
	}
	reads := func(field string, value any) bool {
		text, err := json.Marshal(map[string]any{field: value})
		return err == nil && yaml.UnmarshalStrict(text, &simulator.Config{}) == nil
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if reads(field, fields[field]) {
			continue
		}
		if !reads(field, nil) {
			return ""
		}
		var entries []json.RawMessage
		_ = json.Unmarshal(fields[field], &entries) // no list has no entries
		for i, entry := range entries {
			if !reads(field, []json.RawMessage{entry}) {
				return fmt.Sprintf("%s[%d]", field, i)
			}
		}
		return field
	}
	return ""
}

// withoutDecoders is what an error says of the file, not of how it is read.
func withoutDecoders(err error) string {
	text := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "error unmarshaling JSON: ", "while decoding JSON: ", "json: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
