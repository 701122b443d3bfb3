package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// result is what a scenario measured. Its fields are the report's: they keep their names.
type result struct {
	Scenario string            `json:"scenario"`
	Clusters int               `json:"clusters"`
	Machines int               `json:"machines"`
	Latency  simulator.Latency `json:"latency"`
	// Seconds is how long it was measured; Traffic and CPUSeconds are of that time, MaxRSSMiB since the manager's start.
	Seconds    float64 `json:"seconds"`
	Values     []value `json:"values"`
	Traffic    traffic `json:"maas"`
	CPUSeconds float64 `json:"manager_cpu_seconds"`
	MaxRSSMiB  float64 `json:"manager_max_rss_mib"`
}

// value is one measure, with what is aimed at if anything is.
type value struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Aim   *aim    `json:"aim,omitempty"`
	Holds *bool   `json:"holds,omitempty"`
}

// aim bounds a value from above or from below.
type aim struct {
	AtMost  *float64 `json:"at_most,omitempty"`
	AtLeast *float64 `json:"at_least,omitempty"`
}

func atMost(limit float64) *aim  { return &aim{AtMost: &limit} }
func atLeast(limit float64) *aim { return &aim{AtLeast: &limit} }

func (a *aim) String() string {
	switch {
	case a == nil:
		return ""
	case a.AtMost != nil:
		return fmt.Sprintf("<= %g", *a.AtMost)
	}
	return fmt.Sprintf(">= %g", *a.AtLeast)
}

func (r *result) add(name string, measured float64, wanted *aim) {
	v := value{Name: name, Value: measured, Aim: wanted}
	if wanted != nil {
		v.Holds = new((wanted.AtMost == nil || measured <= *wanted.AtMost) && (wanted.AtLeast == nil || measured >= *wanted.AtLeast))
	}
	r.Values = append(r.Values, v)
}

// report is the file. The names of its fields, and of values, stay.
type report struct {
	Schema      int       `json:"schema"`
	Measured    time.Time `json:"measured"`
	Go          string    `json:"go"`
	CPUs        int       `json:"cpus"`
	Concurrency int       `json:"machine_concurrency"`
	// DeployedToProvisioned and the next two stand in the scenarios too. They are what is asked for most.
	DeployedToProvisioned *percentiles `json:"deployed_to_provisioned_seconds,omitempty"`
	RequestsPerMachine    *float64     `json:"maas_requests_per_machine,omitempty"`
	RequestsAtRest        *float64     `json:"maas_requests_per_minute_at_rest,omitempty"`
	Scenarios             []result     `json:"scenarios"`
}

type percentiles struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	Max float64 `json:"max"`
}

func newReport(results []result) *report {
	order := names(scenarios())
	slices.SortFunc(results, func(a, b result) int { return slices.Index(order, a.Scenario) - slices.Index(order, b.Scenario) })
	r := &report{Schema: 1, Measured: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(), CPUs: runtime.NumCPU(),
		Concurrency: concurrency, Scenarios: results}
	r.RequestsPerMachine, r.RequestsAtRest = r.find("maas_requests_per_machine"), r.find("maas_requests_per_minute_at_rest")
	p50, p95, most := r.find("deployed_to_provisioned_seconds_p50"), r.find("deployed_to_provisioned_seconds_p95"), r.find("deployed_to_provisioned_seconds_max")
	if p50 != nil && p95 != nil && most != nil {
		r.DeployedToProvisioned = &percentiles{*p50, *p95, *most}
	}
	return r
}

func (r *report) find(name string) *float64 {
	for _, s := range r.Scenarios {
		for _, v := range s.Values {
			if v.Name == name {
				return &v.Value
			}
		}
	}
	return nil
}

// write stores the report, and prints it as tables. One of a single scenario does not take the place of the whole.
func (r *report) write(o options) error {
	name := "explains-itself.json"
	if o.only != "" {
		name = "explains-itself-" + o.only + ".json"
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(o.out, name)
	if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
		return err
	}
	for _, s := range r.Scenarios {
		if s.Traffic.Requests > 0 {
			s.print()
		}
	}
	r.printValues()
	fmt.Printf("\nThe report is in %s.\n", path)
	return nil
}

// print lists what MAAS was asked.
func (r result) print() {
	minutes := r.Seconds / 60
	fmt.Printf("\n%s: %d machines in %d clusters, %.0f seconds; the manager took %.1f s of CPU, %.0f MiB at most\n",
		r.Scenario, r.Machines, r.Clusters, r.Seconds, r.CPUSeconds, r.MaxRSSMiB)
	const format = "  %-56s %9s %9s %10s  %s\n"
	fmt.Printf(format, "asked of MAAS", "requests", "a minute", "KB/minute", "refused")
	row := func(name string, o operation) {
		fmt.Printf(format, name, fmt.Sprint(o.Requests), fmt.Sprintf("%.1f", float64(o.Requests)/minutes),
			fmt.Sprintf("%.1f", float64(o.Bytes)/1e3/minutes), refusals(o.Statuses))
	}
	for _, name := range r.Traffic.byRequests() {
		row(name, r.Traffic.Operation[name])
	}
	row("all", operation{Requests: r.Traffic.Requests, Bytes: r.Traffic.Bytes})
}

// refusals reads like: 409 ×3, 503 ×1.
func refusals(statuses map[int]int) string {
	var parts []string
	for status, n := range statuses {
		if status < 200 || status > 299 {
			parts = append(parts, fmt.Sprintf("%d ×%d", status, n))
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func (r *report) printValues() {
	const format = "%-10s %-40s %10s %8s  %s\n"
	fmt.Printf("\n"+format, "scenario", "measured", "value", "aim", "holds")
	for _, s := range r.Scenarios {
		for _, v := range s.Values {
			holds := ""
			switch {
			case v.Holds == nil:
			case *v.Holds:
				holds = "yes"
			default:
				holds = "NO"
			}
			fmt.Printf(format, s.Scenario, v.Name, fmt.Sprintf("%.2f", v.Value), v.Aim, holds)
		}
	}
}
