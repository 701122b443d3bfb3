package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestErrorsOfAConfigurationSayWhere(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"machines: [{hostname: a}, {hostname: b, core: 16}]": `region.yaml: machines[1]: unknown field "core"`,
		"machines: [{hostname: a, status: brokn}]":           `region.yaml: machines[0]: no such machine status: "brokn"`,
		"durations: {install: 5}":                            `region.yaml: durations: duration install is 5`,
		"latency: {alocate: 1s}":                             `region.yaml: latency: unknown duration "alocate"`,
		"machines: {hostname: a}":                            `region.yaml: machines: cannot unmarshal object`,
		"machnes: []":                                        `region.yaml: unknown field "machnes"`,
		"zones: [{name: a}]\n---\nzones: [{name: b}]\n":      `region.yaml: there is more than one YAML document`,
		"machines:\n- {hostname: a":                          `region.yaml: yaml: line 2: `,
	}
	for content, want := range tests {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "region.yaml")
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := readConfig(file); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func TestOneDocumentMayHaveMarkers(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "region.yaml")
	if err := os.WriteFile(file, []byte("# a region\n---\nzones: [{name: a}]\n...\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if cfg, err := readConfig(file); err != nil || len(cfg.Zones) != 1 {
		t.Errorf("got %+v, %v", cfg.Zones, err)
	}
}
