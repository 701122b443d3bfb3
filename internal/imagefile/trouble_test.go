package imagefile

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

type between = func(http.ResponseWriter, *http.Request, http.Handler)

// MAAS that fails once ends with the image in it, however it failed.
func TestUploadComesThroughOneFailure(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		happens between
		piece   int
		anew    int // how often the upload begins anew
	}{
		"503 for the first piece":           {answer(503, "text/plain", "busy"), 1, 1},
		"503 in the middle":                 {answer(503, "text/plain", "busy"), 2, 1},
		"503 for the last piece":            {answer(503, "text/plain", "busy"), 3, 1},
		"a proxy's 502":                     {answer(502, "text/html", "<html>Bad gateway</html>"), 2, 1},
		"500":                               {answer(500, "text/plain", "deadlock detected"), 2, 1},
		"closed in the middle of a piece":   {cutOff, 2, 1},
		"closed in the middle of the last":  {cutOff, 3, 1},
		"answer lost in the middle":         {lost, 2, 1},
		"answer to the last piece lost":     {lost, 3, 0},
		"a conflict that changed nothing":   {answer(409, "text/plain", ""), 2, 0},
		"too many requests":                 {answer(429, "text/plain", "slow down"), 2, 0},
		"damaged on the way":                {damaged, 2, 1},
		"damaged on the way, at the end":    {damaged, 3, 1},
		"a page of a proxy, as if all well": {answer(200, "text/html", "<html>Sign in</html>"), 2, 1},
		"refused":                           {answer(413, "text/html", "<html>too large</html>"), 2, 1},
	} {
		for _, version := range versions() {
			w := newWorld(t, version)
			m := w.manifest()
			w.onPut(tt.piece, false, tt.happens)
			result, err := w.upload(context.Background(), w.client, m)
			if err != nil || result.AlreadyThere || result.Replaced {
				t.Errorf("%s %s: %+v, %v", version, name, result, err)
				continue
			}
			w.hasArrived(result, m)
			if len(w.anew) != tt.anew {
				t.Errorf("%s %s: began anew %v", version, name, w.anew)
			}
		}
	}
}

func TestLostAnswerToTheAnnouncement(t *testing.T) {
	t.Parallel()
	for _, version := range versions() {
		w := newWorld(t, version)
		m := w.manifest()
		n := 0
		w.between = func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodPost {
				if n++; n == 1 {
					lost(rw, r, next)
				}
			}
			next.ServeHTTP(rw, r)
		}
		result, err := w.upload(context.Background(), w.client, m)
		if err != nil {
			t.Fatal(err)
		}
		w.hasArrived(result, m)
		if len(w.anew) != 1 || !errors.Is(w.anew[0], maas.ErrOutcomeUnknown) {
			t.Errorf("%s: began anew for %v", version, w.anew)
		}
	}
}

// MAAS that goes on failing gets a bounded number of tries, and the next upload clears away what they left.
func TestFailureThatStays(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		happens between
		kind    error
		tries   int
		says    string
	}{
		"503":        {answer(503, "text/plain", "busy"), maas.ErrOutcomeUnknown, tries, "busy"},
		"closed":     {cutOff, maas.ErrOutcomeUnknown, tries, "connection"},
		"damaged":    {damaged, maas.ErrInvalid, refusedTries, "Saved content does not match given SHA256 value"},
		"refused":    {answer(413, "text/html", "<html>"), maas.ErrInvalid, refusedTries, "too large"},
		"forbidden":  {answer(403, "text/plain", "no"), maas.ErrForbidden, 1, "no"},
		"409 always": {answer(409, "text/plain", ""), maas.ErrUnavailable, tries, "too busy"},
	} {
		for _, version := range versions() {
			w := newWorld(t, version)
			m := w.manifest()
			w.onPut(2, true, tt.happens)
			_, err := w.upload(context.Background(), w.client, m)
			if !errors.Is(err, tt.kind) || len(w.anew) != tt.tries-1 {
				t.Errorf("%s %s: %v, began anew %d times", version, name, err, len(w.anew))
			}
			w.checkUnfinished(err, tt.says)
			w.mustUpload(m)
		}
	}
}

func TestInterruptedUploadIsTakenUpCleanly(t *testing.T) {
	t.Parallel()
	for _, version := range versions() {
		for _, at := range []int64{0, testPiece, 2 * testPiece} {
			w := newWorld(t, version)
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			w.onSent = func(sent int64) {
				if sent == at {
					stop()
				}
			}
			_, err := w.upload(ctx, w.client, w.manifest())
			if !errors.Is(err, context.Canceled) || len(w.anew) > 0 {
				t.Errorf("%s at %d: %v", version, at, err)
			}
			w.checkUnfinished(err)
			w.onSent = nil
			w.mustUpload(w.manifest())
		}
	}
}

func TestInterruptedReplacementSaysWhatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "3.7.3")
	w.mustUpload(w.manifest())
	w.write(2, testSize)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	w.onSent = func(int64) { stop() }
	_, err := w.upload(ctx, w.client, w.manifest())
	w.checkUnfinished(err, "what it had before is gone")
}

func TestUploadThatEndsBeforeAnythingWasSentLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "3.7.3")
	ctx, stop := context.WithCancel(context.Background())
	stop()
	_, err := w.upload(ctx, w.client, w.manifest())
	if !errors.Is(err, context.Canceled) || len(w.region.Requests()) > 0 {
		t.Errorf("%v after %v", err, w.region.Requests())
	}
}

func TestWaitingEndsAlsoIfMAASHangs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "3.7.3")
	asked := 0
	w.between = func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
		asked++
		<-r.Context().Done()
	}
	const patience = 50 * time.Millisecond
	hasty, err := maas.New(maas.Config{Endpoint: w.url + "/MAAS", APIKey: userKey, Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	j := &job{Uploader: Uploader{Client: hasty, Pause: func(context.Context, time.Duration) error { return nil }}, manifest: w.manifest()}
	_, err = j.await(context.Background(), 5, patience)
	if !errors.Is(err, errNotComplete) || !errors.Is(err, maas.ErrUnavailable) || asked != 1 {
		t.Errorf("%v after %d questions", err, asked)
	}
}

func TestMAASThatAsksForTimeGetsIt(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]time.Duration{"": 2 * time.Second, "1": 2 * time.Second, "60": time.Minute, "3600": 2 * time.Minute} {
		w := newWorld(t, "3.7.3")
		w.onPut(2, false, func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
			rw.Header().Set("Retry-After", asked)
			answer(429, "text/plain", "slow down")(rw, r, next)
		})
		w.mustUpload(w.manifest())
		if len(w.waits) == 0 || w.waits[0] != want {
			t.Errorf("Retry-After %q: waited %v", asked, w.waits)
		}
	}
}

// MAAS 3.5 and newer copy content to all region controllers before they call it complete.
func TestMAASMayTakeAMomentToComplete(t *testing.T) {
	t.Parallel()
	for _, moment := range []time.Duration{10 * time.Second, time.Hour} {
		w := newWorld(t, "3.7.3")
		var waited time.Duration
		w.between = func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
			if waited = 0; r.Method != http.MethodGet {
				next.ServeHTTP(rw, r)
				return
			}
			for _, wait := range w.waits {
				waited += wait
			}
			recorded := httptest.NewRecorder()
			next.ServeHTTP(recorded, r)
			body := recorded.Body.Bytes()
			if waited < moment {
				body = bytes.ReplaceAll(body, []byte(`"complete": true`), []byte(`"complete": false`))
			}
			rw.Header().Set("Content-Type", recorded.Header().Get("Content-Type"))
			_, _ = rw.Write(body)
		}
		m := w.manifest()
		result, err := w.upload(context.Background(), w.client, m)
		var unfinished *UnfinishedError
		switch {
		case moment > completeWithin && (!errors.Is(err, errNotComplete) || errors.As(err, &unfinished) || len(w.anew) > 0 || waited > 2*completeWithin):
			t.Errorf("got %v after %v, began anew %v", err, waited, w.anew)
		case moment < completeWithin && err != nil:
			t.Errorf("got %v", err)
		case moment < completeWithin:
			w.hasArrived(result, m)
		}
	}
}

// MAAS 3.3 and 3.4 keep each content once, however many images have it.
func TestContentThatAnotherImageHas(t *testing.T) {
	t.Parallel()
	for _, version := range versions() {
		w := newWorld(t, version)
		m := w.manifest()
		other := m
		other.Name = "custom/other"
		w.onPut(2, true, answer(403, "text/plain", "no"))
		if _, err := w.upload(context.Background(), w.client, other); err == nil {
			t.Fatal("the first upload came through")
		}
		w.between = nil
		switch result, err := w.upload(context.Background(), w.client, m); {
		case version == "3.4.10" && (!errors.Is(err, errElsewhere) || len(w.named(m.Name)) > 0):
			t.Errorf("%s: %v, and MAAS has %v", version, err, w.named(m.Name))
		case version != "3.4.10" && err != nil:
			t.Errorf("%s: %v", version, err)
		case version != "3.4.10":
			w.hasArrived(result, m)
		}
		// Both come through once the first is finished.
		for _, manifest := range []Manifest{other, m} {
			w.mustUpload(manifest)
		}
	}
}
