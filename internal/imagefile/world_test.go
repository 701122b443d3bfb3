package imagefile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

const (
	userKey   = "simulator:user:secret"
	testName  = "custom/debian-12"
	testPiece = 40_000
	// testSize makes three pieces.
	testSize = 2*testPiece + 1000
)

// versions of MAAS that treat uploads differently.
func versions() []string { return []string{"3.4.10", "3.7.3"} }

// world is a MAAS, an image, and what stands between them.
type world struct {
	t      *testing.T
	region *simulator.Region
	dir    string // where MAAS keeps what was uploaded
	file   string
	client *maas.Client
	user   *maas.Client // no administrator
	beside *maas.Client // an administrator with nothing in between
	url    string

	mu      sync.Mutex
	between func(w http.ResponseWriter, r *http.Request, next http.Handler) // nil for nothing
	anew    []error
	waits   []time.Duration
	sent    []int64
	onSent  func(sent int64)
}

func newWorld(t *testing.T, version string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), file: filepath.Join(t.TempDir(), "debian-12-amd64.tar.gz")}
	region, err := simulator.New(simulator.Config{
		Version: version, ImageDir: w.dir,
		Machines: []simulator.Machine{{Hostname: "m1"}},
		Users:    []simulator.User{{Name: "admin", APIKey: simulator.DefaultAPIKey, Admin: true}, {Name: "user", APIKey: userKey}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(region.Close)
	handler := region.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		between := w.between
		w.mu.Unlock()
		if between == nil {
			handler.ServeHTTP(rw, r)
			return
		}
		between(rw, r, handler)
	}))
	t.Cleanup(server.Close)
	direct := httptest.NewServer(handler)
	t.Cleanup(direct.Close)
	w.region, w.url = region, server.URL
	w.client, w.user = w.newClient(server.URL, simulator.DefaultAPIKey), w.newClient(server.URL, userKey)
	w.beside = w.newClient(direct.URL, simulator.DefaultAPIKey)
	w.write(1, testSize)
	return w
}

func (w *world) newClient(url, key string) *maas.Client {
	w.t.Helper()
	client, err := maas.New(maas.Config{Endpoint: url + "/MAAS", APIKey: key, Timeout: 20 * time.Second})
	if err != nil {
		w.t.Fatal(err)
	}
	return client
}

// write makes the image anew, of other bytes for every seed.
func (w *world) write(seed uint64, size int) {
	w.t.Helper()
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(seed)}).Read(content)
	if err := os.WriteFile(w.file, content, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// manifest describes the image as it is now.
func (w *world) manifest() Manifest {
	w.t.Helper()
	content, err := os.ReadFile(w.file)
	if err != nil {
		w.t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return Manifest{Name: testName, Title: "Debian 12", Architecture: "amd64/generic", FileType: "tgz", File: filepath.Base(w.file),
		Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
}

// upload runs an upload in which waiting takes no time.
func (w *world) upload(ctx context.Context, client *maas.Client, m Manifest) (Result, error) {
	return Uploader{
		Client: client, piece: testPiece,
		Anew:  func(reason error) { w.anew = append(w.anew, reason) },
		Pause: func(ctx context.Context, wait time.Duration) error { w.waits = append(w.waits, wait); return ctx.Err() },
		Sent: func(sent, total int64) {
			if total != m.Size && m.Size != 0 {
				w.t.Errorf("%d of %d bytes, the image has %d", sent, total, m.Size)
			}
			if w.sent = append(w.sent, sent); w.onSent != nil {
				w.onSent(sent)
			}
		},
	}.Upload(ctx, w.file, m)
}

// mustUpload uploads what has to arrive.
func (w *world) mustUpload(m Manifest) Result {
	w.t.Helper()
	result, err := w.upload(context.Background(), w.client, m)
	if err != nil {
		w.t.Fatal(err)
	}
	w.hasArrived(result, m)
	return result
}

// hasArrived fails unless MAAS has exactly the image, and nothing else under its name.
func (w *world) hasArrived(result Result, m Manifest) {
	w.t.Helper()
	content, ok := result.Resource.Content()
	if !ok || !content.Complete || content.SHA256 != m.SHA256 || result.SHA256 != m.SHA256 || content.Size != m.Size || result.Resource.Name != bare(m.Name) {
		w.t.Errorf("the result is %+v", result)
	}
	image, err := os.ReadFile(w.file)
	if err != nil {
		w.t.Fatal(err)
	}
	stored, err := os.ReadFile(filepath.Join(w.dir, m.SHA256))
	if err != nil || !bytes.Equal(stored, image) {
		w.t.Errorf("MAAS keeps %d bytes that are not the image of %d, %v", len(stored), len(image), err)
	}
	if n := len(w.named(m.Name)); n != 1 {
		w.t.Errorf("MAAS has %d images named %s", n, m.Name)
	}
}

// named are the boot resources of a name, as MAAS reads them out.
func (w *world) named(name string) []maas.BootResource {
	w.t.Helper()
	all, err := w.beside.UploadedBootResources(context.Background())
	if err != nil {
		w.t.Error(err)
	}
	var found []maas.BootResource
	for _, b := range all {
		if b.Name == bare(name) {
			whole, err := w.beside.BootResource(context.Background(), b.ID)
			if err != nil {
				w.t.Error(err)
				continue
			}
			found = append(found, *whole)
		}
	}
	return found
}

// deleteAll deletes what MAAS has under a name, as somebody else.
func (w *world) deleteAll(name string) {
	w.t.Helper()
	for _, found := range w.named(name) {
		if err := w.beside.DeleteBootResource(context.Background(), found.ID); err != nil {
			w.t.Error(err)
		}
	}
}

// writes are the requests that wanted to change something, as "PUT" or "POST".
func (w *world) writes() []string {
	var all []string
	for _, r := range w.region.Requests() {
		if r.Method != http.MethodGet {
			all = append(all, r.Method)
		}
	}
	return all
}

// onPut lets something happen in place of the nth piece that is sent, and of those after it while again says so.
func (w *world) onPut(nth int, again bool, happens func(rw http.ResponseWriter, r *http.Request, next http.Handler)) {
	n := 0
	w.between = func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPut {
			w.mu.Lock()
			n++
			hit := n == nth || again && n > nth
			w.mu.Unlock()
			if hit {
				happens(rw, r, next)
				return
			}
		}
		next.ServeHTTP(rw, r)
	}
}

// lost lets MAAS do it, and closes the connection in place of an answer.
func lost(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// cutOff closes the connection when half of a piece has come.
func cutOff(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
	half := make([]byte, r.ContentLength/2)
	_, _ = r.Body.Read(half)
	panic(http.ErrAbortHandler)
}

// answer refuses.
func answer(status int, contentType, body string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(rw http.ResponseWriter, _ *http.Request, _ http.Handler) {
		rw.Header().Set("Content-Type", contentType)
		rw.WriteHeader(status)
		_, _ = rw.Write([]byte(body))
	}
}

// damaged changes a byte on its way.
func damaged(rw http.ResponseWriter, r *http.Request, next http.Handler) {
	body := new(bytes.Buffer)
	_, _ = body.ReadFrom(r.Body)
	body.Bytes()[100] ^= 1
	changed := r.Clone(r.Context())
	changed.Body = readCloser{body}
	next.ServeHTTP(rw, changed)
}

type readCloser struct{ *bytes.Buffer }

func (readCloser) Close() error { return nil }

// checkUnfinished fails unless an upload left an incomplete image and said so. Nothing is in between any more then.
func (w *world) checkUnfinished(err error, says ...string) {
	w.t.Helper()
	w.between = nil
	var unfinished *UnfinishedError
	if !errors.As(err, &unfinished) {
		w.t.Fatalf("got %v", err)
	}
	for _, text := range append(says, "is incomplete and cannot be deployed", "run the same upload again", testName) {
		if !strings.Contains(err.Error(), text) {
			w.t.Errorf("%q is not in: %v", text, err)
		}
	}
	if strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "secret") {
		w.t.Errorf("not fit to be shown: %q", err)
	}
	left := w.named(testName)
	if len(left) != 1 || left[0].ID != unfinished.ID || hasContent(left[0]) {
		w.t.Errorf("MAAS has %+v, the error says boot resource %d", left, unfinished.ID)
	}
}
