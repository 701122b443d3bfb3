package simulator_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestImagesThatMAASDoesNotCreate(t *testing.T) {
	t.Parallel()
	_, server, _, clock := start(t, simulator.Config{})
	c := callerOf(t, server, clock)
	content := someBytes(10)
	c.create("there", content)
	tests := []struct {
		name   string
		form   string
		status int
		want   string
	}{
		{"a long name", form(strings.Repeat("x", 256), content), 400, `{"name": ["Ensure this value has at most 255 characters (it has 256)."]}`},
		{"no name behind the system", form("custom/", content), 400, `{"name": ["This field cannot be blank."]}`},
		{"a name with two slashes", form("custom/a/b", content), 500, "too many values to unpack (expected 2)"},
		{"a name that CentOS may get", form("centos9", content), 400, `{"name": ["centos9 is a reserved name"]}`},
		{"the name of a system", form("windows", content), 400, `{"name": ["windows is a reserved name"]}`},
		{"an architecture without platform", form("a", content, "architecture", "amd64"), 400,
			`{"architecture": ["'amd64' is not a valid architecture.  It should be one of: 'amd64/generic'."]}`},
		{"an unknown file type", form("a", content, "filetype", "zip"), 400, `{"filetype": ["Select a valid choice. zip is not one of the available choices."]}`},
		{"a short checksum", form("a", content, "sha256", "abc"), 400, `{"sha256": ["Ensure this value has at least 64 characters (it has 3)."]}`},
		{"a long checksum", form("a", content, "sha256", strings.Repeat("a", 65)), 400, `{"sha256": ["Ensure this value has at most 64 characters (it has 65)."]}`},
		{"a size that is none", form("a", content, "size", "1M"), 400, `{"size": ["Enter a whole number."]}`},
		{"a base image of no known system", form("a", content, "base_image", "debian/12"), 400,
			`{"base_image": ["custom images require a valid non-custom OS type base image"]}`},
		{"a base image of no known release", form("a", content, "base_image", "ubuntu/nope"), 400,
			`{"base_image": ["please select a valid base image OS and version"]}`},
		{"the checksum of a file with another size", form("a", content, "size", "11"), 400, "File already exists with sha256 that is of different size."},
		{"several mistakes", form("", content, "size", "-", "filetype", "zip"), 400,
			`{"name": ["This field is required."], "filetype": ["Select a valid choice. zip is not one of the available choices."], "size": ["This field is required."]}`},
	}
	_, before := c.do(http.MethodGet, "/boot-resources/", "", nil)
	for _, tt := range tests {
		status, body := c.do(http.MethodPost, "/boot-resources/", "application/x-www-form-urlencoded", strings.NewReader(tt.form))
		if status != tt.status || body != tt.want {
			t.Errorf("%s: %d %s, want %d %s", tt.name, status, body, tt.status, tt.want)
		}
	}
	if _, after := c.do(http.MethodGet, "/boot-resources/", "", nil); after != before {
		t.Errorf("something was created: %s", after)
	}
}

func TestFilesAreCalledAsInMAAS(t *testing.T) {
	t.Parallel()
	tests := []struct{ version, asked, filename, kind, onDisk string }{
		{"3.7.3", "-", "root.tgz", "root-tgz", "short"},
		{"3.7.3", "txz", "root.txz", "root-txz", "short"},
		{"3.7.3", "ddtgz", "root-dd", "root-dd", "short"},
		{"3.5.13", "tbz", "root.tbz", "root-tbz", ""},
		{"3.4.10", "tgz", "root-tgz", "root-tgz", ""},
		{"3.4.10", "ddgz", "root-dd.gz", "root-dd.gz", ""},
	}
	for _, tt := range tests {
		_, server, _, clock := start(t, simulator.Config{Version: tt.version})
		made := callerOf(t, server, clock).create("foo", someBytes(1), "filetype", tt.asked)
		file, found := made.Sets[today].Files[tt.filename]
		if tt.onDisk != "" {
			tt.onDisk = file.SHA256[:min(7, len(file.SHA256))]
		}
		if !found || file.Filetype != tt.kind || file.FilenameOnDisk != tt.onDisk {
			t.Errorf("%s %s: %+v", tt.version, tt.asked, made.Sets)
		}
	}
}

func TestChecksumsThatBeginTheSameHaveDifferentNamesOnDisk(t *testing.T) {
	t.Parallel()
	_, server, _, clock := start(t, simulator.Config{})
	c := callerOf(t, server, clock)
	for i, tt := range []struct{ sha, want string }{
		{strings.Repeat("a", 64), "aaaaaaa"},
		{strings.Repeat("a", 60) + "bbbb", strings.Repeat("a", 60) + "b"},
		{strings.Repeat("a", 9) + strings.Repeat("c", 55), "aaaaaaaaac"},
		{strings.Repeat("a", 64), "aaaaaaa"},
	} {
		made := c.create(fmt.Sprint("i", i), []byte("x"), "sha256", tt.sha)
		if got := made.Sets[today].Files["root.tgz"].FilenameOnDisk; got != tt.want {
			t.Errorf("%s is stored as %s, want %s", tt.sha, got, tt.want)
		}
	}
}

func TestImageThatIsCreatedAgainLosesWhatItHad(t *testing.T) {
	t.Parallel()
	_, server, _, clock := start(t, simulator.Config{ImageDir: t.TempDir()})
	c := callerOf(t, server, clock)
	first, second := someBytes(100), someBytes(100)
	made := c.upload("foo", first, "title", "One", "base_image", "Ubuntu/Noble")
	if made.BaseImage != "ubuntu/noble" {
		t.Errorf("base image %q, want it in lower case", made.BaseImage)
	}

	again := c.create("custom/foo", second, "title", "Two", "base_image", "ubuntu/jammy")
	if again.ID != made.ID || *again.Title != "Two" || again.BaseImage != "ubuntu/noble" {
		t.Errorf("again: %+v, want the same image with the title Two and its first base image", again)
	}
	old, next := again.Sets[today], again.Sets[today+".1"]
	if len(old.Files) != 0 || old.Complete || old.Size != 0 || len(next.Files) != 1 || next.Complete {
		t.Errorf("versions: %+v", again.Sets)
	}
	if _, body := c.do(http.MethodGet, fmt.Sprintf("/boot-resources/%d/", made.ID), "", nil); strings.Index(body, today+`.1"`) > strings.Index(body, today+`"`) {
		t.Errorf("the newest version does not come first: %s", body)
	}

	third := c.create("foo", second, "title", "-", "keep_old", "true")
	if len(third.Sets) != 3 || len(third.Sets[today+".1"].Files) != 1 || *third.Title != "" {
		t.Errorf("with keep_old: %+v", third)
	}
}

// MAAS 3.4 keeps one content per sha256, so that who has it already uploads
// nothing; newer ones want it again.
func TestContentThatIsThereAlready(t *testing.T) {
	t.Parallel()
	for version, uploadAgain := range map[string]bool{"3.4.10": false, "3.5.13": true, "3.7.3": true} {
		dir := t.TempDir()
		_, server, _, clock := start(t, simulator.Config{ImageDir: dir, Version: version})
		c := callerOf(t, server, clock)
		content := someBytes(100)
		foo := c.upload("foo", content)
		for _, name := range []string{"bar", "foo"} {
			made := c.create(name, content)
			newest := today
			if name == "foo" {
				newest += ".1"
			}
			if again := made.uploadURI(newest) != ""; again != uploadAgain || made.Sets[newest].Complete == uploadAgain {
				t.Errorf("MAAS %s: %s is %+v", version, name, made.Sets)
			}
			if uploadAgain {
				if status, body := c.put(made.uploadURI(newest), content); status != http.StatusOK {
					t.Errorf("MAAS %s: %d %s", version, status, body)
				}
			}
		}
		if status, _ := c.do(http.MethodDelete, fmt.Sprintf("/boot-resources/%d/", foo.ID), "", nil); status != http.StatusNoContent {
			t.Errorf("delete: %d", status)
		}
		if got := filesIn(t, dir); len(got) != 1 {
			t.Errorf("MAAS %s: bar's content is %v after foo was deleted", version, got)
		}
		if status, _ := c.do(http.MethodDelete, fmt.Sprintf("/boot-resources/%d/", foo.ID+1), "", nil); status != http.StatusNoContent {
			t.Errorf("delete: %d", status)
		}
		if got := filesIn(t, dir); len(got) != 0 {
			t.Errorf("MAAS %s: %v is left", version, got)
		}
	}
}

func TestProgressIsPrintedAsEachVersionDoes(t *testing.T) {
	t.Parallel()
	for version, want := range map[string][2]string{
		"3.4.10": {`"progress": 0`, `"progress": 4.0`}, // the file's; its quotient is upside down there
		"3.7.3":  {`"progress": 0.0`, `"progress": 25.0`},
	} {
		_, server, _, clock := start(t, simulator.Config{Version: version})
		c := callerOf(t, server, clock)
		made := c.create("foo", someBytes(100))
		path := fmt.Sprintf("/boot-resources/%d/", made.ID)
		_, before := c.do(http.MethodGet, path, "", nil)
		c.put(made.uploadURI(today), someBytes(25))
		_, after := c.do(http.MethodGet, path, "", nil)
		if !strings.Contains(before, want[0]+",") || !strings.Contains(after, want[1]+",") {
			t.Errorf("MAAS %s: %s\n%s", version, before, after)
		}
	}
}
