package recipe

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func clientThatWaits(longest time.Duration) *http.Client {
	return &http.Client{Transport: impatient{http.DefaultTransport, longest}}
}

func newTestDownloader(t *testing.T) downloader {
	t.Helper()
	return downloader{client: clientThatWaits(10 * time.Second), cache: t.TempDir(), progress: func(string, int64, int64) {}}
}

func TestADownloadThatIsNotWhatWasPublishedIsRefusedAndNotKept(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	answer := func(path, content string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(content)) })
	}
	for _, name := range []string{"right", "changed", "cut", "silent", "mute", "missing"} {
		answer("/"+name+".sha256", sumOf("content")+"  "+name+"\n")
	}
	answer("/right", "content")
	answer("/changed", "c0ntent")
	answer("/unlisted", "content")
	answer("/unlisted.sha256", sumOf("content")+"  another\n")
	answer("/unsummed", "content")
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("content"))
	})
	mux.HandleFunc("/mute", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/silent", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("con"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	gone := httptest.NewServer(nil)
	gone.Close()
	goneHost := strings.TrimPrefix(gone.URL, "http://")
	for name, test := range map[string]struct {
		url  string
		want []string // in the error; none where there is none
	}{
		"right":                            {server.URL + "/right", nil},
		"changed on the way":               {server.URL + "/changed", []string{"was not kept", host + " publishes " + sumOf("content"), sumOf("c0ntent")}},
		"cut off":                          {server.URL + "/cut", []string{host, "unexpected EOF", "HTTPS_PROXY"}},
		"silence":                          {server.URL + "/silent", []string{host, "nothing came for too long", "BINARIES=source"}},
		"silence from the start":           {server.URL + "/mute", []string{host, "nothing came for too long"}},
		"a file that is not there":         {server.URL + "/missing", []string{host + " answered 404 Not Found", "is there such a version"}},
		"checksums that are not there":     {server.URL + "/unsummed", []string{"unsummed.sha256: " + host + " answered 404"}},
		"checksums without the file":       {server.URL + "/unlisted", []string{"unlisted.sha256: there is no sha256 of unlisted in it"}},
		"a host that does not answer":      {gone.URL + "/right", []string{goneHost, "connection refused", "HTTPS_PROXY", "_build/cache/release"}},
		"a password in a mirror's address": {strings.Replace(gone.URL, "//", "//me:hidden-word@", 1) + "/right", []string{"me:xxxxx@" + goneHost}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTestDownloader(t)
			if strings.HasPrefix(name, "silence") {
				d.client = clientThatWaits(50 * time.Millisecond)
			}
			file, err := d.get(t.Context(), test.url, test.url+".sha256")
			if len(test.want) == 0 {
				if content, readErr := os.ReadFile(file); err != nil || readErr != nil || string(content) != "content" {
					t.Fatalf("%q, %v, %v", content, err, readErr)
				}
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range append(test.want, "") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
			if strings.Contains(err.Error(), "hidden-word") {
				t.Errorf("a password is in: %v", err)
			}
			if left, _ := filepath.Glob(filepath.Join(d.cache, "*", "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestADownloadIsAskedForOnceUnlessItIsDamaged(t *testing.T) {
	t.Parallel()
	site := newFakeSite(t, map[string]string{})
	site.offer("/v1/program", "content", "/v1/program.sha256", "SUM")
	d := newTestDownloader(t)
	for i, damage := range []bool{false, false, true, false} {
		file, err := d.get(t.Context(), site.URL+"/v1/program", site.URL+"/v1/program.sha256")
		if err != nil {
			t.Fatal(err)
		}
		if content, err := os.ReadFile(file); err != nil || string(content) != "content" {
			t.Errorf("time %d: %q, %v", i, content, err)
		}
		if damage {
			if err := os.WriteFile(file, []byte("damaged"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, want := strings.Join(site.asked, " "), "/v1/program.sha256 /v1/program /v1/program.sha256 /v1/program"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}

func TestChecksumsAreReadAsEachProjectWritesThem(t *testing.T) {
	t.Parallel()
	sum, other := sumOf("content"), sumOf("other")
	for list, want := range map[string]string{
		sum:                                 sum,
		strings.ToUpper(sum) + "\n":         sum,
		sum + "  file\n":                    sum,
		sum + " *file\n":                    sum,
		sum + "  ./out/file":                sum,
		other + "  more\n" + sum + "  file": sum,
		"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n" + sum + "  file\n-----BEGIN PGP SIGNATURE-----\n": sum,
		other + "  file2\n":        "",
		sum[1:] + "  file\n":       "",
		"":                         "",
		"<html>not found</html>\n": "",
	} {
		got, err := checksumIn(list, "file")
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", list, got, err)
		}
	}
}

func TestAnArchiveWithoutAProgramIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	archive := filepath.Join(dir, "programs.tar.gz")
	write(t, archive, archiveOf(t, map[string]string{"./bin/one": "1", "bin/three": "3"}))
	err := unpackPrograms(archive, dir, []string{"bin/one", "bin/two"})
	if err == nil || !strings.Contains(err.Error(), "bin/two is not in it") {
		t.Errorf("%v", err)
	}
	if err := unpackPrograms(archive, dir, []string{"bin/one"}); err != nil {
		t.Error(err)
	}
	if content, err := os.ReadFile(filepath.Join(dir, "one")); err != nil || string(content) != "1" {
		t.Errorf("%q, %v", content, err)
	}
}
