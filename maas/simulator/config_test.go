package simulator

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestNewNamesWhatIsWrongWithAConfig(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		cfg  Config
		want string
	}{
		"short key":        {Config{Users: []User{{Name: "u", APIKey: "abc"}}}, "consumer:token:secret"},
		"unknown zone":     {Config{Machines: []Machine{{Hostname: "a", Zone: "z"}}}, `no zone "z"`},
		"unknown pool":     {Config{Machines: []Machine{{Hostname: "a", Pool: "z"}}}, `no pool "z"`},
		"unknown domain":   {Config{Machines: []Machine{{Hostname: "a", Domain: "z"}}}, `no domain "z"`},
		"unknown subnet":   {Config{Machines: []Machine{{Hostname: "a", Subnet: "z"}}}, `no subnet "z"`},
		"no hostname":      {Config{Machines: []Machine{{}}}, "no hostname"},
		"same hostname":    {Config{Machines: []Machine{{Hostname: "a"}, {Hostname: "a"}}}, "another one"},
		"bad system ID":    {Config{Machines: []Machine{{Hostname: "a", SystemID: "x"}}}, "six characters"},
		"bad MAC":          {Config{Machines: []Machine{{Hostname: "a", MAC: "x"}}}, "MAC"},
		"bad network":      {Config{Subnets: []Subnet{{CIDR: "10.0.0.1/24"}}}, "10.0.0.0/24"},
		"bad gateway":      {Config{Subnets: []Subnet{{CIDR: "10.0.0.0/24", Gateway: "x"}}}, "gateway"},
		"bad range":        {Config{Subnets: []Subnet{{CIDR: "10.0.0.0/24", Reserved: []string{"10.0.0.9-10.0.0.1"}}}}, "range"},
		"same domain":      {Config{Domains: []Domain{{Name: "a"}, {Name: "a"}}}, "twice"},
		"image of no name": {Config{Images: []Image{{}}}, "image"},
	}
	for name, tt := range tests {
		if _, err := New(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", name, err, tt.want)
		}
	}
}

func TestConfigReadsJSON(t *testing.T) {
	t.Parallel()
	var cfg Config
	text := `{"machines": [{"hostname": "a", "status": "failed_deployment"}, {"hostname": "b", "status": 8}], "durations": {"install": "90s"}}`
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		t.Fatal(err)
	}
	if cfg.Durations.Install != 90*time.Second || *cfg.Machines[0].Status != StatusFailedDeployment || *cfg.Machines[1].Status != StatusBroken {
		t.Errorf("read %+v", cfg)
	}
	for _, bad := range []string{`{"durations": {"instal": "1s"}}`, `{"durations": {"install": "-1s"}}`, `{"machines": [{"status": "nope"}]}`} {
		if err := json.Unmarshal([]byte(bad), &Config{}); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

func TestSystemIDsFollowFromTheSeed(t *testing.T) {
	t.Parallel()
	ids := func(seed int64) string {
		r, err := New(Config{Seed: seed, Machines: []Machine{{Hostname: "a"}, {Hostname: "b"}}})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, m := range r.Snapshot().Machines {
			out = append(out, m.SystemID)
		}
		return strings.Join(out, " ")
	}
	if a, b := ids(1), ids(1); a != b {
		t.Errorf("the same seed gives %s and %s", a, b)
	}
	if a, b := ids(1), ids(2); a == b {
		t.Errorf("different seeds give %s both", a)
	}
}

func TestOlderVersionsLackNewerFields(t *testing.T) {
	t.Parallel()
	keys := func(version string) int {
		r, err := New(Config{Version: version, Machines: []Machine{{Hostname: "a"}}})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal((&tx{state: r.state, r: r}).render(r.state.machines.all()[0]))
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(raw, &fields); err != nil {
			t.Fatal(err)
		}
		return len(fields)
	}
	for version, want := range map[string]int{"3.4.10": 78, "3.5.13": 79, "3.6.4": 80, "3.7.3": 81} {
		if got := keys(version); got != want {
			t.Errorf("a machine of %s has %d fields, want %d", version, got, want)
		}
	}
}
