package imagefile

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

func TestImageThatSomebodyDeletesMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "3.7.3")
	deleted := false
	w.onSent = func(sent int64) {
		if sent == testPiece && !deleted {
			deleted = true
			w.deleteAll(testName)
		}
	}
	m := w.manifest()
	result, err := w.upload(context.Background(), w.client, m)
	if err != nil || len(w.anew) != 1 || !errors.Is(w.anew[0], maas.ErrNotFound) {
		t.Fatalf("%v after %v", err, w.anew)
	}
	w.hasArrived(result, m)
}

// Two who upload the same at once take it from each other. One of them gets through, and the other is not told to do the same again.
func TestTwoUploadsOfOneImage(t *testing.T) {
	t.Parallel()
	for _, version := range versions() {
		w := newWorld(t, version)
		other := newOther(t, w, 1)
		// Whenever a piece of this one is on its way, the other announces its image.
		w.onPut(2, true, func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
			other.announce()
			next.ServeHTTP(rw, r)
		})
		_, err := w.upload(context.Background(), w.client, w.manifest())
		var unfinished *UnfinishedError
		if !errors.Is(err, errTaken) || errors.As(err, &unfinished) || len(w.anew) != 1 || !strings.Contains(err.Error(), "look who does, before you upload it again") {
			t.Errorf("%s: %v after %v", version, err, w.anew)
		}
		if left := w.named(testName); len(left) != 1 || left[0].ID != other.resource.ID {
			t.Errorf("%s: MAAS has %+v, want what the other announced", version, left)
		}
	}
}

// What somebody else brings under the name while an upload runs is not replaced by that upload, whichever way it took the place.
func TestOtherImageThatTakesTheNameStays(t *testing.T) {
	t.Parallel()
	for _, version := range versions() {
		for _, inPlace := range []bool{false, true} {
			w := newWorld(t, version)
			other := newOther(t, w, 2)
			w.onPut(2, false, func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
				if inPlace {
					other.create()
				} else {
					other.announce()
				}
				next.ServeHTTP(rw, r)
			})
			_, err := w.upload(context.Background(), w.client, w.manifest())
			var unfinished *UnfinishedError
			if !errors.Is(err, errTaken) || errors.As(err, &unfinished) {
				t.Errorf("%s: %v after %v", version, err, w.anew)
			}
			left := w.named(testName)
			if content, _ := left[0].Content(); len(left) != 1 || content.SHA256 != other.params.SHA256 {
				t.Errorf("%s: MAAS has %+v, want what the other announced", version, left)
			}
		}
	}
}

// other is somebody else who uploads.
type other struct {
	w        *world
	params   maas.BootResourceParams
	resource *maas.BootResource
}

func newOther(t *testing.T, w *world, seed uint64) *other {
	t.Helper()
	w.write(seed, testSize)
	m := w.manifest()
	w.write(1, testSize)
	return &other{w: w, params: maas.BootResourceParams{Name: m.Name, Architecture: m.Architecture, SHA256: m.SHA256, Size: m.Size}}
}

// announce does as [Uploader] does: it clears away what is there, and begins.
func (o *other) announce() {
	o.w.deleteAll(testName)
	o.create()
}

func (o *other) create() {
	var err error
	if o.resource, err = o.w.beside.CreateBootResource(context.Background(), o.params); err != nil {
		o.w.t.Error(err)
	}
}

func TestImageThatIsTakenWhenAllOfItWasSent(t *testing.T) {
	t.Parallel()
	for name, happens := range map[string]between{
		"answered": func(rw http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(rw, r) },
		"lost":     lost,
	} {
		w := newWorld(t, "3.7.3")
		w.onPut(3, false, func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
			defer newOther(t, w, 2).announce()
			happens(rw, r, next)
		})
		_, err := w.upload(context.Background(), w.client, w.manifest())
		var unfinished *UnfinishedError
		if !errors.Is(err, errTaken) || errors.As(err, &unfinished) || len(w.anew) > 0 {
			t.Errorf("%s: %v after %v", name, err, w.anew)
		}
	}
}

func TestImageThatIsDeletedWhileItIsLookedAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "3.7.3")
	m := w.manifest()
	w.mustUpload(m)
	deleted := false
	w.between = func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodGet && r.URL.RawQuery == "" && !deleted {
			deleted = true
			w.deleteAll(testName)
		}
		next.ServeHTTP(rw, r)
	}
	result, err := w.upload(context.Background(), w.client, m)
	if err != nil || result.AlreadyThere || result.Replaced {
		t.Fatalf("%+v, %v", result, err)
	}
	w.hasArrived(result, m)
}
