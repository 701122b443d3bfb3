package simulator_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// caller speaks HTTP to a region, below every client.
type caller struct {
	t   *testing.T
	url string // of the host
	now func() time.Time
	key string
}

func callerOf(t *testing.T, server *simulator.Server, clock *simulator.VirtualClock) caller {
	t.Helper()
	return caller{t: t, url: strings.TrimSuffix(server.URL, "/MAAS"), now: clock.Now, key: simulator.DefaultAPIKey}
}

func (c caller) authorization() string {
	key := strings.Split(c.key, ":")
	return fmt.Sprintf(`OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", oauth_consumer_key="%s", oauth_token="%s", `+
		`oauth_signature="%%26%s", oauth_timestamp="%d", oauth_nonce="%s"`, key[0], key[1], key[2], c.now().Unix(), rand.Text())
}

// do sends a request and returns status and body of the answer.
func (c caller) do(method, path, contentType string, body io.Reader) (int, string) {
	c.t.Helper()
	if !strings.HasPrefix(path, "/MAAS/") {
		path = "/MAAS/api/2.0" + path
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, body)
	if err != nil {
		c.t.Error(err)
		return 0, ""
	}
	if c.key != "" {
		req.Header.Set("Authorization", c.authorization())
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Error(err)
	}
	return resp.StatusCode, string(answer)
}

func (c caller) put(path string, chunk []byte) (int, string) {
	c.t.Helper()
	return c.do(http.MethodPut, path, "application/octet-stream", strings.NewReader(string(chunk)))
}

// resource is what the tests read of a boot resource.
type resource struct {
	ID        int     `json:"id"`
	Name      string  `json:"name"`
	Title     *string `json:"title"`
	BaseImage string  `json:"base_image"`
	Sets      map[string]struct {
		Size     int64    `json:"size"`
		Complete bool     `json:"complete"`
		Progress *float64 `json:"progress"`
		Files    map[string]struct {
			Filetype       string   `json:"filetype"`
			SHA256         string   `json:"sha256"`
			FilenameOnDisk string   `json:"filename_on_disk"`
			Complete       bool     `json:"complete"`
			Progress       *float64 `json:"progress"`
			UploadURI      string   `json:"upload_uri"`
		} `json:"files"`
	} `json:"sets"`
}

const today = "20261130" // of the tests' clock

// uploadURI is where the only file of a version goes.
func (r resource) uploadURI(version string) string {
	for _, f := range r.Sets[version].Files {
		return f.UploadURI
	}
	return ""
}

func (r resource) progress(version string) float64 {
	if p := r.Sets[version].Progress; p != nil {
		return *p
	}
	return 100
}

// form is a request to create an image of some content; more changes fields.
func form(name string, content []byte, more ...string) string {
	sum := sha256.Sum256(content)
	values := url.Values{
		"name": {name}, "architecture": {"amd64/generic"}, "sha256": {hex.EncodeToString(sum[:])}, "size": {fmt.Sprint(len(content))},
	}
	for i := 0; i < len(more); i += 2 {
		if more[i+1] == "-" {
			values.Del(more[i])
			continue
		}
		values.Set(more[i], more[i+1])
	}
	return values.Encode()
}

// create makes an image that is to be uploaded.
func (c caller) create(name string, content []byte, more ...string) resource {
	c.t.Helper()
	status, body := c.do(http.MethodPost, "/boot-resources/", "application/x-www-form-urlencoded", strings.NewReader(form(name, content, more...)))
	return c.decode(status, http.StatusCreated, body)
}

func (c caller) read(id int) resource {
	c.t.Helper()
	status, body := c.do(http.MethodGet, fmt.Sprintf("/boot-resources/%d/", id), "", nil)
	return c.decode(status, http.StatusOK, body)
}

func (c caller) decode(status, want int, body string) resource {
	c.t.Helper()
	var out resource
	if err := json.Unmarshal([]byte(body), &out); err != nil || status != want {
		c.t.Fatalf("status %d, want %d: %s", status, want, body)
	}
	return out
}

// upload makes an image with all its content.
func (c caller) upload(name string, content []byte, more ...string) resource {
	c.t.Helper()
	made := c.create(name, content, more...)
	version := today
	for v := range made.Sets {
		version = max(version, v)
	}
	if uri := made.uploadURI(version); uri != "" {
		if status, body := c.put(uri, content); status != http.StatusOK {
			c.t.Fatalf("upload: %d %s", status, body)
		}
	}
	return c.read(made.ID)
}

// someBytes are n bytes that differ from those of other tests.
func someBytes(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.Read(out) // never fails
	return out
}
