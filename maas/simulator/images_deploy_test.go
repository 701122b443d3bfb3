package simulator_test

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestOnlyCompleteImagesAreDeployed(t *testing.T) {
	t.Parallel()
	const refused = http.StatusBadRequest
	incomplete := func(c caller) { c.create("foo", someBytes(100)) }
	complete := func(c caller) { c.upload("foo", someBytes(100)) }
	tests := []struct {
		name, version, series string
		prepare               func(caller)
		status                int
		body                  string
	}{
		{"not there", "3.7.3", "custom/foo", func(caller) {}, refused,
			`{"distro_series": ["'custom/foo' is not a valid distro_series.  It should be one of: '', 'ubuntu/jammy', 'ubuntu/noble'."]}`},
		{"incomplete is a choice", "3.7.3", "nope", incomplete, refused,
			`{"distro_series": ["'nope' is not a valid distro_series.  It should be one of: '', 'custom/foo', 'ubuntu/jammy', 'ubuntu/noble'."]}`},
		{"incomplete", "3.7.3", "custom/foo", incomplete, refused, "Deployment operating system custom/foo is unavailable for amd64/generic."},
		{"incomplete in 3.5", "3.5.13", "foo", incomplete, refused, "Deployment operating system custom/foo is unavailable for amd64/generic."},
		{"incomplete in 3.4", "3.4.10", "custom/foo", incomplete, refused, "Deployment operating system custom foo is unavailable."},
		{"created again", "3.7.3", "foo", func(c caller) { complete(c); incomplete(c) }, refused,
			"Deployment operating system custom/foo is unavailable for amd64/generic."},
		{"created again, old kept", "3.7.3", "foo", func(c caller) { complete(c); c.create("foo", someBytes(100), "keep_old", "true") }, http.StatusOK, ""},
		{"complete", "3.7.3", "custom/foo", complete, http.StatusOK, ""},
		{"complete in 3.4", "3.4.10", "foo", complete, http.StatusOK, ""},
	}
	for _, tt := range tests {
		_, server, client, clock := start(t, simulator.Config{
			Version: tt.version, Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123"}}, Durations: simulator.Durations{Install: time.Hour},
		})
		c := callerOf(t, server, clock)
		tt.prepare(c)
		status, body := c.do(http.MethodPost, "/machines/abc123/?op=deploy", "application/x-www-form-urlencoded",
			strings.NewReader(url.Values{"distro_series": {tt.series}}.Encode()))
		if status != tt.status || (tt.body != "" && body != tt.body) {
			t.Errorf("%s: %d %.300s, want %d %s", tt.name, status, body, tt.status, tt.body)
		}
		m, err := client.Machine(t.Context(), "abc123")
		if err != nil || (status != http.StatusOK && m.Status != maas.StatusReady) {
			t.Errorf("%s: the machine is %v, %v", tt.name, m.Status, err)
		}
	}
}

// An installer reads the image halfway through; before that it has to be there.
func TestImageThatGoesWhileAMachineIsDeployed(t *testing.T) {
	t.Parallel()
	content := someBytes(100)
	remove := func(c caller, id int) { c.do(http.MethodDelete, fmt.Sprintf("/boot-resources/%d/", id), "", nil) }
	tests := []struct {
		name  string
		after time.Duration
		act   func(c caller, id int)
		want  maas.Status
	}{
		{"deleted before it is read", 29 * time.Minute, remove, maas.StatusFailedDeployment},
		{"deleted after it was read", 31 * time.Minute, remove, maas.StatusDeployed},
		{"other content", time.Minute, func(c caller, _ int) { c.upload("foo", someBytes(100)) }, maas.StatusFailedDeployment},
		{"the same content again", time.Minute, func(c caller, _ int) { c.upload("foo", content) }, maas.StatusDeployed},
	}
	for _, tt := range tests {
		_, server, client, clock := start(t, simulator.Config{
			Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123"}}, Durations: simulator.Durations{Install: time.Hour},
		})
		c := callerOf(t, server, clock)
		made := c.upload("foo", content)
		if _, err := client.Deploy(t.Context(), "abc123", maas.DeployParams{DistroSeries: "custom/foo"}); err != nil {
			t.Fatal(err)
		}
		clock.Advance(tt.after)
		tt.act(c, made.ID)
		clock.Advance(time.Hour)
		m, err := client.Machine(t.Context(), "abc123")
		if err != nil || m.Status != tt.want {
			t.Errorf("%s: %v, %v, want %s", tt.name, m.Status, err, tt.want)
		}
		const reason = "Installation failed (refer to the installation log for more information)."
		if tt.want == maas.StatusFailedDeployment && m.ErrorDescription != reason {
			t.Errorf("%s: error_description is %q", tt.name, m.ErrorDescription)
		}
	}
}

func TestBooterGetsTheContentThatWasUploaded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	booter := &fakeBooter{}
	_, server, client, clock := start(t, simulator.Config{
		ImageDir: dir, Boot: booter, Machines: []simulator.Machine{{Hostname: "m-1", SystemID: "abc123"}, {Hostname: "m-2", SystemID: "def456"}},
	})
	c := callerOf(t, server, clock)
	content := someBytes(100)
	c.upload("foo", someBytes(100))
	made := c.upload("foo", content, "keep_old", "true") // the newest counts
	sha := made.Sets[today+".1"].Files["root.tgz"].SHA256
	for id, series := range map[string]string{"abc123": "custom/foo", "def456": "jammy"} {
		if _, err := client.Deploy(t.Context(), id, maas.DeployParams{DistroSeries: series}); err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Second)
	}
	if len(booter.booted) != 2 {
		t.Fatalf("%d machines booted, want 2", len(booter.booted))
	}
	for _, m := range booter.booted {
		file, sum := filepath.Join(dir, sha), sha
		if m.SystemID == "def456" {
			file, sum = "", "" // nobody uploaded it
		}
		if m.ImageFile != file || m.ImageSHA256 != sum {
			t.Errorf("%s boots %q, %q; want %q, %q", m.Image, m.ImageFile, m.ImageSHA256, file, sum)
		}
	}
	if status, _ := c.do(http.MethodDelete, fmt.Sprintf("/boot-resources/%d/", made.ID), "", nil); status != http.StatusNoContent {
		t.Fatal(status)
	}
	if got := filesIn(t, dir); len(got) != 1 || got[0] != sha {
		t.Errorf("%v is left for a machine that may boot again, want its image", got)
	}
	if _, err := client.Release(t.Context(), "abc123", maas.ReleaseParams{}); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Second)
	if got := filesIn(t, dir); len(got) != 0 {
		t.Errorf("%v is left although nothing needs it", got)
	}
}
