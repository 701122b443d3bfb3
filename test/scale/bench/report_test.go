package main

import "testing"

func TestPercentilesAreMeasuredValues(t *testing.T) {
	t.Parallel()
	var hundred []float64
	for i := range 100 {
		hundred = append(hundred, float64(i+1))
	}
	for _, test := range []struct {
		values  []float64
		percent int
		want    float64
	}{{hundred, 50, 50}, {hundred, 95, 95}, {hundred, 100, 100}, {[]float64{3}, 50, 3}, {[]float64{1, 2, 3}, 50, 2}, {[]float64{1, 2, 3}, 95, 3}} {
		if got := percentile(test.values, test.percent); got != test.want {
			t.Errorf("percentile %d of %d values is %g, want %g", test.percent, len(test.values), got, test.want)
		}
	}
}

func TestAimsBoundValues(t *testing.T) {
	t.Parallel()
	var r result
	r.add("below", 29.9, atMost(30))
	r.add("at", 30, atMost(30))
	r.add("above", 30.1, atMost(30))
	r.add("enough", 50, atLeast(50))
	r.add("too few", 49, atLeast(50))
	r.add("free", 1, nil)
	want := []string{"yes", "yes", "no", "yes", "no", ""}
	for i, v := range r.Values {
		got := ""
		if v.Holds != nil {
			got = map[bool]string{true: "yes", false: "no"}[*v.Holds]
		}
		if got != want[i] {
			t.Errorf("%s: holds %q, want %q", v.Name, got, want[i])
		}
	}
}

func TestTheReportNamesWhatIsAskedForMost(t *testing.T) {
	t.Parallel()
	rest := result{Scenario: "at-rest"}
	rest.add("maas_requests_per_minute_at_rest", 12, atMost(30))
	deploying := result{Scenario: "deploying"}
	deploying.add("deployed_to_provisioned_seconds_p50", 1, nil)
	deploying.add("deployed_to_provisioned_seconds_p95", 2, atMost(5))
	deploying.add("deployed_to_provisioned_seconds_max", 3, nil)
	deploying.add("maas_requests_per_machine", 9, atMost(10))
	r := newReport([]result{deploying, rest})
	if *r.RequestsAtRest != 12 || *r.RequestsPerMachine != 9 || *r.DeployedToProvisioned != (percentiles{1, 2, 3}) {
		t.Errorf("the report is %+v", r)
	}
	if r.Scenarios[0].Scenario != "at-rest" {
		t.Error("scenarios are not in their order")
	}
	if r := newReport([]result{rest}); r.DeployedToProvisioned != nil || r.RequestsPerMachine != nil {
		t.Error("what was not measured is reported")
	}
}
