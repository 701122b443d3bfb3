package simulator_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestImageIsCompleteWhenItsLastChunkIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, dir := range []string{dir, ""} {
		_, server, _, clock := start(t, simulator.Config{ImageDir: dir})
		c := callerOf(t, server, clock)
		content := someBytes(4000)
		made := c.create("custom/foo", content, "title", "Foo")
		uri := made.uploadURI(today)
		if uri == "" || made.progress(today) != 0 || made.Name != "foo" {
			t.Fatalf("created: %+v", made)
		}
		for i, want := range []float64{25, 50, 75, 100} {
			if status, body := c.put(uri, content[i*1000:(i+1)*1000]); status != http.StatusOK || body != "OK" {
				t.Fatalf("chunk %d: %d %q", i, status, body)
			}
			if got := c.read(made.ID).progress(today); got != want {
				t.Errorf("after chunk %d the progress is %v, want %v", i, got, want)
			}
		}
		set := c.read(made.ID).Sets[today]
		file := set.Files["root.tgz"]
		if !set.Complete || !file.Complete || file.UploadURI != "" || file.Progress != nil {
			t.Errorf("complete: %+v", set)
		}
		if dir == "" {
			continue
		}
		kept := filesIn(t, dir)
		stored, err := os.ReadFile(filepath.Join(dir, file.SHA256))
		if err != nil || !bytes.Equal(stored, content) || len(kept) != 1 {
			t.Errorf("%d bytes are stored, in a folder with %v: %v", len(stored), kept, err)
		}
	}
}

func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, entry := range entries {
		out = append(out, entry.Name())
	}
	return out
}

func TestChunksThatMAASRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, server, _, clock := start(t, simulator.Config{
		ImageDir: dir,
		Users:    []simulator.User{{Name: "admin", APIKey: simulator.DefaultAPIKey, Admin: true}, {Name: "dev", APIKey: "d:e:v"}},
	})
	admin := callerOf(t, server, clock)
	dev, nobody := admin, admin
	dev.key, nobody.key = "d:e:v", ""
	content := someBytes(100)
	made := admin.create("foo", content)
	uri := made.uploadURI(today)
	doneURI := admin.create("done", content[:50]).uploadURI(today)
	if status, body := admin.put(doneURI, content[:50]); status != http.StatusOK {
		t.Fatal(status, body)
	}
	streamed := admin.read(1)
	if status, body := admin.put(uri, content[:10]); status != http.StatusOK {
		t.Fatal(status, body)
	}
	octets := "application/octet-stream"
	tests := []struct {
		name     string
		as       caller
		uri      string
		kind     string
		chunk    string
		status   int
		wantBody string
	}{
		{"nothing", admin, uri, octets, "", 400, "Missing data."},
		{"more than the size", admin, uri, octets, string(content), 400, "Too much data received."},
		{"complete already", admin, doneURI, octets, "x", 400, "Cannot upload to a complete file."},
		{"an image of a stream", admin, fmt.Sprintf("/boot-resources/%d/upload/1/", streamed.ID), octets, "x", 403, "Cannot upload to a resource of type: 0."},
		{"no such image", admin, "/boot-resources/999/upload/1/", octets, "x", 404, "No BootResource matches the given query."},
		{"no such file", admin, fmt.Sprintf("/boot-resources/%d/upload/999/", made.ID), octets, "x", 404, "No BootResourceFile matches the given query."},
		{"a user", dev, uri, octets, "x", 403, "This method is reserved for admin users."},
		{"no credentials", nobody, uri, octets, "x", 401, ""},
		{"JSON", admin, uri, "application/json", "x", 400, "Bad Request"},
		{"a form with parts", admin, uri, "multipart/form-data; boundary=b", "--b--", 500, "You cannot access body after reading from request's data stream"},
		{"more than nginx takes", admin, uri, octets, strings.Repeat("x", 11<<20), 413, ""},
	}
	for _, tt := range tests {
		status, body := tt.as.do(http.MethodPut, tt.uri, tt.kind, strings.NewReader(tt.chunk))
		if status != tt.status || (tt.wantBody != "" && body != tt.wantBody) {
			t.Errorf("%s: %d %.200q, want %d %q", tt.name, status, body, tt.status, tt.wantBody)
		}
	}
	if got := admin.read(made.ID).progress(today); got != 10 {
		t.Errorf("the progress is %v after what was refused, want 10", got)
	}
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		if status, _ := admin.do(method, uri, "", nil); status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d, want 405", method, status)
		}
	}
	if status, body := admin.do(http.MethodPut, uri, "application/x-www-form-urlencoded", bytes.NewReader(content[10:])); status != http.StatusOK {
		t.Errorf("content that calls itself a form: %d %s", status, body)
	}
}

func TestWrongChecksumRefusesTheLastChunkAlone(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.4.10", "3.7.3"} {
		dir := t.TempDir()
		_, server, _, clock := start(t, simulator.Config{ImageDir: dir, Version: version})
		c := callerOf(t, server, clock)
		content := someBytes(100)
		const text = "Saved content does not match given SHA256 value."

		whole := c.create("whole", content)
		if status, body := c.put(whole.uploadURI(today), someBytes(100)); status != 400 || body != text {
			t.Errorf("%s: wrong content: %d %q", version, status, body)
		}
		if kept := filesIn(t, dir); len(kept) != 0 {
			t.Errorf("%s: %v stay of a chunk that was refused", version, kept)
		}
		made := c.create("parts", content[:90])
		uri := made.uploadURI(today)
		for _, step := range []struct {
			chunk  []byte
			status int
		}{{content[:60], 200}, {someBytes(30), 400}, {someBytes(30), 400}, {content[60:90], 200}} {
			if status, body := c.put(uri, step.chunk); status != step.status {
				t.Errorf("%s: %d %q, want %d", version, status, body, step.status)
			}
		}
		if !c.read(made.ID).Sets[today].Complete {
			t.Errorf("%s: not complete once the right last chunk was sent", version)
		}
	}
}

func TestChunkThatHangsBlocksNobodyAndChangesNothingWhenItBreaks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	region, server, client, clock := start(t, simulator.Config{ImageDir: dir})
	c := callerOf(t, server, clock)
	content := someBytes(1000)
	made := c.create("foo", content)
	uri := made.uploadURI(today)

	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: maas\r\nAuthorization: %s\r\nContent-Length: 1000\r\n\r\n", uri, c.authorization())
	if _, err := conn.Write(content[:500]); err != nil {
		t.Fatal(err)
	}
	if _, err := client.BootResources(t.Context()); err != nil {
		t.Errorf("beside a chunk that hangs: %v", err)
	}
	if status, body := c.put(uri, content[:100]); status != http.StatusOK {
		t.Errorf("another chunk beside it: %d %s", status, body)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the broken request in the log", func() bool {
		for _, entry := range region.Requests() {
			if entry.Method == http.MethodPut && entry.Status == http.StatusBadRequest {
				return true
			}
		}
		return false
	})
	if got := c.read(made.ID).progress(today); got != 10 {
		t.Errorf("the progress is %v, want the 10 of the chunk that came whole", got)
	}
	if status, body := c.put(uri, content[100:]); status != http.StatusOK {
		t.Errorf("the rest: %d %s", status, body)
	}
	for _, entry := range region.Requests() {
		if entry.Status == http.StatusOK && entry.Method == http.MethodPut && entry.Received != 100 && entry.Received != 900 {
			t.Errorf("the log has a chunk of %d bytes", entry.Received)
		}
	}
}

func TestUploadsAtOnceDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.4.10", "3.7.3"} {
		_, server, _, clock := start(t, simulator.Config{ImageDir: t.TempDir(), Version: version})
		c := callerOf(t, server, clock)
		same := someBytes(20_000)
		contents := map[string][]byte{"a": someBytes(20_000), "b": someBytes(30_000), "c": same}
		if version == "3.7.3" {
			contents["d"] = same // in 3.4 it would be one upload
		}
		made := map[string]resource{}
		for name, content := range contents {
			made[name] = c.create(name, content)
		}
		var wg sync.WaitGroup
		for name, content := range contents {
			wg.Go(func() {
				for at := 0; at < len(content); at += 1000 {
					if status, body := c.put(made[name].uploadURI(today), content[at:at+1000]); status != http.StatusOK {
						t.Errorf("%s: %d %s", name, status, body)
						return
					}
				}
			})
		}
		wg.Wait()
		for name, m := range made {
			if !c.read(m.ID).Sets[today].Complete {
				t.Errorf("MAAS %s: %s is not complete", version, name)
			}
		}
	}
}

// A disk that is full or cannot be written to takes nothing, and once it can again, the upload goes on.
func TestChunkThatCannotBeStoredDoesNotCount(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "images")
	_, server, _, clock := start(t, simulator.Config{ImageDir: dir})
	c := callerOf(t, server, clock)
	content := someBytes(100)
	made := c.create("foo", content)
	uri := made.uploadURI(today)
	away := dir + ".away"
	for i := range 2 {
		if err := os.Rename(dir, away); err != nil {
			t.Fatal(err)
		}
		status, body := c.put(uri, content[i*50:(i+1)*50])
		if status != http.StatusInternalServerError || !strings.Contains(body, "store a chunk: ") {
			t.Errorf("chunk %d: %d %q", i, status, body)
		}
		if got, want := c.read(made.ID).progress(today), float64(i*50); got != want {
			t.Errorf("chunk %d: the progress is %v, want %v", i, got, want)
		}
		if err := os.Rename(away, dir); err != nil {
			t.Fatal(err)
		}
		if status, body := c.put(uri, content[i*50:(i+1)*50]); status != http.StatusOK {
			t.Errorf("chunk %d again: %d %q", i, status, body)
		}
	}
	if got := filesIn(t, dir); len(got) != 1 || !c.read(made.ID).Sets[today].Complete {
		t.Errorf("there are %v in the end, want the image", got)
	}
}

// The checksum of an image that never became complete may be any text of that length, also a path.
func TestChecksumThatIsAPathReachesNoFile(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dir := filepath.Join(parent, "images")
	_, server, _, clock := start(t, simulator.Config{ImageDir: dir})
	c := callerOf(t, server, clock)
	precious := filepath.Join(parent, "precious")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path := "../precious"
	made := c.create("foo", someBytes(10), "sha256", strings.Repeat("/", 64-len(path))+path)
	if status, body := c.put(made.uploadURI(today), someBytes(10)); status != http.StatusBadRequest {
		t.Errorf("upload: %d %s", status, body)
	}
	if status, body := c.do(http.MethodDelete, fmt.Sprintf("/boot-resources/%d/", made.ID), "", nil); status != http.StatusNoContent {
		t.Errorf("delete: %d %s", status, body)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}

func TestSecondStartForgetsImagesAndTakesThemAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "images")
	content := someBytes(1000)
	_, server, _, clock := start(t, simulator.Config{ImageDir: dir})
	first := callerOf(t, server, clock)
	first.upload("foo", content)
	half := first.create("half", someBytes(1000))
	if status, body := first.put(half.uploadURI(today), someBytes(500)); status != http.StatusOK {
		t.Fatal(status, body)
	}
	if got := len(filesIn(t, dir)); got != 2 {
		t.Fatalf("%d files, want one complete and one incomplete", got)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if got := filesIn(t, dir); len(got) != 1 {
		t.Errorf("after the end there are %v, want the complete one", got)
	}
	leave := func(name string, age time.Duration) {
		path := filepath.Join(dir, name)
		when := time.Now().Add(-age)
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	leave("upload-1.incomplete", 48*time.Hour)
	leave("upload-2.incomplete", time.Hour)
	_, server, _, clock = start(t, simulator.Config{ImageDir: dir})
	second := callerOf(t, server, clock)
	if got := filesIn(t, dir); len(got) != 2 || got[1] != "upload-2.incomplete" {
		t.Errorf("after the second start there are %v, want the complete one and the young one", got)
	}
	if _, body := second.do(http.MethodGet, "/boot-resources/?type=uploaded", "", nil); body != "[]" {
		t.Errorf("the second start knows %s", body)
	}
	again := second.upload("foo", content)
	stored, err := os.ReadFile(filepath.Join(dir, again.Sets[today].Files["root.tgz"].SHA256))
	if err != nil || !bytes.Equal(stored, content) {
		t.Errorf("stored again: %d bytes, %v", len(stored), err)
	}
}

func TestChunksOfOneFileAtOnceGoOneAfterAnother(t *testing.T) {
	t.Parallel()
	const chunks, size = 20, 200_000
	dir := t.TempDir()
	_, server, _, clock := start(t, simulator.Config{ImageDir: dir})
	c := callerOf(t, server, clock)
	made := c.create("foo", make([]byte, chunks*size+1)) // never complete, for nobody knows the order
	var wg sync.WaitGroup
	for i := range chunks {
		wg.Go(func() {
			if status, body := c.put(made.uploadURI(today), bytes.Repeat([]byte{byte(i)}, size)); status != http.StatusOK {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	wg.Wait()
	files := filesIn(t, dir)
	if len(files) != 1 {
		t.Fatalf("there are %v, want one incomplete file", files)
	}
	stored, err := os.ReadFile(filepath.Join(dir, files[0]))
	if err != nil || len(stored) != chunks*size {
		t.Fatalf("%d bytes are stored, %v", len(stored), err)
	}
	seen := map[byte]bool{}
	for block := range slices.Chunk(stored, size) {
		if bytes.Count(block, block[:1]) != size || seen[block[0]] {
			t.Errorf("chunk %d is torn, or there twice", block[0])
		}
		seen[block[0]] = true
	}
}
