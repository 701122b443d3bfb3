package imagefile

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Whichever request fails, and however it does: the upload ends with the image in MAAS or with an error in one line, and the next upload
// brings it there.
func TestNextUploadComesThroughWhateverFailed(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]between{
		"closed before":        func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) },
		"closed after":         lost,
		"closed in the middle": brokenOff,
		"a proxy's page":       answer(502, "text/html", "<html>Bad gateway</html>"),
		"a page, as if well":   answer(200, "text/html", "<html>Sign in</html>"),
		"a redirect":           answer(302, "text/html", ""),
		"null":                 answer(200, "application/json", "null"),
		"another's answer":     answer(200, "application/json", `{"id": 999, "name": "other", "sets": {}}`),
		"unauthorized":         answer(401, "text/plain", "Invalid signature: simulator&secret"),
		"conflict":             answer(409, "text/html", "<html>Conflict</html>"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, version := range versions() {
				for nth := 1; ; nth++ {
					w := newWorld(t, version)
					if !w.onRequest(nth, happens, func() { _ = w.endsWell(context.Background()) }) {
						break
					}
					w.between = nil
					if _, err := w.upload(context.Background(), w.client, w.manifest()); err != nil {
						t.Errorf("%s, at request %d: the next upload: %v", version, nth, err)
					}
				}
			}
		})
	}
}

func TestNextUploadComesThroughWheneverOneIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, version := range versions() {
		for _, after := range []bool{false, true} {
			for nth := 1; ; nth++ {
				w := newWorld(t, version)
				ctx, stop := context.WithCancel(context.Background())
				interrupt := func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
					if after {
						next.ServeHTTP(httptest.NewRecorder(), r)
					}
					stop()
					_, _ = io.Copy(io.Discard, r.Body)
					<-r.Context().Done()
				}
				came := w.onRequest(nth, interrupt, func() {
					if err := w.endsWell(ctx); !errors.Is(err, context.Canceled) && ctx.Err() != nil {
						t.Errorf("%s, interrupted at request %d: %v", version, nth, err)
					}
				})
				stop()
				if !came {
					break
				}
				if len(w.anew) > 0 {
					t.Errorf("%s, interrupted at request %d: began anew %v", version, nth, w.anew)
				}
				w.between = nil
				w.mustUpload(w.manifest())
			}
		}
	}
}

// onRequest lets something happen in place of the nth request while run runs, and says whether there were so many.
func (w *world) onRequest(nth int, happens between, run func()) bool {
	n := 0
	w.between = func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
		w.mu.Lock()
		n++
		hit := n == nth
		w.mu.Unlock()
		if hit {
			happens(rw, r, next)
			return
		}
		next.ServeHTTP(rw, r)
	}
	run()
	w.mu.Lock()
	defer w.mu.Unlock()
	return n >= nth
}

// endsWell uploads, and fails unless the image is in MAAS then or there is an error that is fit to be shown.
func (w *world) endsWell(ctx context.Context) error {
	w.t.Helper()
	m := w.manifest()
	result, err := w.upload(ctx, w.client, m)
	if err == nil {
		w.hasArrived(result, m)
		return nil
	}
	if strings.ContainsAny(err.Error(), "\n<>") || strings.Contains(err.Error(), "&secret") || len(err.Error()) > 800 {
		w.t.Errorf("not fit to be shown: %q", err)
	}
	return err
}

// brokenOff announces more of an answer than it sends.
func brokenOff(rw http.ResponseWriter, r *http.Request, next http.Handler) {
	recorded := httptest.NewRecorder()
	next.ServeHTTP(recorded, r)
	rw.Header().Set("Content-Type", recorded.Header().Get("Content-Type"))
	rw.Header().Set("Content-Length", "100000")
	rw.WriteHeader(recorded.Code)
	_, _ = rw.Write(recorded.Body.Bytes())
	panic(http.ErrAbortHandler)
}
