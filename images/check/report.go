package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
)

// Report is what was checked, on which versions, and how it went. It is kept as JSON beside the image's manifest.
type Report struct {
	Image   string    `json:"image"` // the boot resource, such as custom/debian-12-k8s-v1.36.3
	File    string    `json:"file"`
	SHA256  string    `json:"sha256"` // of the file, in hex
	Checked time.Time `json:"checked"`
	Passed  bool      `json:"passed"`
	// Versions of what it was checked on and with: cloud-init, netplan, kernel, qemu …
	Versions map[string]string `json:"versions"`
	Parts    []Part            `json:"parts"`
	Checks   []Result          `json:"checks"`
}

// Part is how long a group of checks took, with what they share: unpacking, booting.
type Part struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// Result is the outcome of one check.
type Result struct {
	Part    string  `json:"part"`
	Name    string  `json:"name"`
	What    string  `json:"what"`
	OK      bool    `json:"ok"`
	Detail  string  `json:"detail,omitempty"` // of one that is fine, such as a version
	Found   string  `json:"found,omitempty"`  // of one that failed
	Do      string  `json:"do,omitempty"`     // what to do about it
	Seconds float64 `json:"seconds"`
}

// String is one line.
func (r Result) String() string {
	switch {
	case !r.OK:
		return fmt.Sprintf("FAIL %s: found %s; %s", r.What, r.Found, r.Do)
	case r.Detail != "":
		return fmt.Sprintf("ok   %s (%s)", r.What, r.Detail)
	}
	return "ok   " + r.What
}

// problem is why a check failed, and what to do.
type problem struct{ found, do string }

func (p *problem) Error() string { return "found " + p.found + "; " + p.do }

// problemf is a problem; do says what to do about it.
func problemf(do, format string, args ...any) error {
	return &problem{found: oneLine(fmt.Sprintf(format, args...)), do: do}
}

// result makes the outcome of a check from what it returned.
func result(part, name, what, detail string, took time.Duration, err error) Result {
	r := Result{Part: part, Name: name, What: what, OK: err == nil, Detail: detail, Seconds: seconds(took)}
	if err == nil {
		return r
	}
	r.Detail, r.Found, r.Do = "", oneLine(err.Error()), "look into _build/logs/image-check-"+part+"*.log, and try again"
	if p, ok := errors.AsType[*problem](err); ok {
		r.Found, r.Do = p.found, p.do
	}
	return r
}

// oneLine keeps messages to a line of a bearable length.
func oneLine(text string) string {
	const longest = 400
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + " …"
	}
	return text
}

// plural counts things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*10) / 10 }

// Failed are the checks that found something.
func (r Report) Failed() []Result {
	var failed []Result
	for _, check := range r.Checks {
		if !check.OK {
			failed = append(failed, check)
		}
	}
	return failed
}

// table writes the report for a person: what took how long, and what failed.
func (r Report) table(w io.Writer) {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "\nPART\tCHECKS\tFAILED\tSECONDS")
	for _, part := range r.Parts {
		var all, failed int
		for _, check := range r.Checks {
			if check.Part != part.Name {
				continue
			}
			if all++; !check.OK {
				failed++
			}
		}
		fmt.Fprintf(columns, "%s\t%d\t%d\t%.1f\n", part.Name, all, failed, part.Seconds)
	}
	columns.Flush()
	for _, check := range r.Failed() {
		fmt.Fprintf(w, "%s: %s\n", check.Name, check)
	}
}

// finish writes the report to its place. One of only some checks does not take the place of a whole one.
func (s *session) finish(partial bool) error {
	s.report.Passed = len(s.report.Failed()) == 0
	s.report.table(s.Log)
	if partial {
		return nil
	}
	text, err := json.MarshalIndent(s.report, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	path := reportPath(s.Image)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// reportPath is where the report of an image is: foo.check.json beside foo.manifest.json.
func reportPath(image string) string {
	return strings.TrimSuffix(imagefile.ManifestPath(image), ".manifest.json") + ".check.json"
}
