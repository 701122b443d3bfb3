package imagefile

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

func TestNewImageIsSentPieceByPiece(t *testing.T) {
	t.Parallel()
	for _, version := range versions() {
		w := newWorld(t, version)
		m := w.manifest()
		result := w.mustUpload(m)
		if result.AlreadyThere || result.Replaced || result.Resource.Title != "Debian 12" {
			t.Errorf("%s: %+v", version, result)
		}
		if got := w.writes(); !slices.Equal(got, []string{"POST", "PUT", "PUT", "PUT"}) {
			t.Errorf("%s: sent %v", version, got)
		}
		if !slices.Equal(w.sent, []int64{0, testPiece, 2 * testPiece, testSize}) {
			t.Errorf("%s: told of %v", version, w.sent)
		}
	}
}

func TestSizesAtTheEdgeOfAPiece(t *testing.T) {
	t.Parallel()
	for size, pieces := range map[int]int{1: 1, testPiece - 1: 1, testPiece: 1, testPiece + 1: 2, 2 * testPiece: 2} {
		w := newWorld(t, "3.7.3")
		w.write(1, size)
		w.mustUpload(w.manifest())
		if got := len(w.writes()) - 1; got != pieces {
			t.Errorf("%d bytes were sent in %d pieces", size, got)
		}
	}
}

func TestPiecesAreAsLargeAsThoseOfMAASsOwnClients(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "3.7.3")
	w.write(1, maas.UploadChunkSize+1)
	m := w.manifest()
	result, err := Upload(context.Background(), w.client, w.file, m, func(sent, _ int64) { w.sent = append(w.sent, sent) })
	if err != nil {
		t.Fatal(err)
	}
	w.hasArrived(result, m)
	if !slices.Equal(w.sent, []int64{0, maas.UploadChunkSize, maas.UploadChunkSize + 1}) {
		t.Errorf("sent %v", w.sent)
	}
}

func TestSameContentIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for _, version := range versions() {
		w := newWorld(t, version)
		m := w.manifest()
		first := w.mustUpload(m)
		before := len(w.writes())
		m.SHA256 = strings.ToUpper(m.SHA256)
		second, err := w.upload(context.Background(), w.client, m)
		if err != nil || !second.AlreadyThere || second.Replaced || second.Resource.ID != first.Resource.ID {
			t.Errorf("%s: %+v, %v", version, second, err)
		}
		if n := len(w.writes()) - before; n != 0 {
			t.Errorf("%s: %d requests that change something", version, n)
		}
	}
}

func TestWhatCountsAsTheSame(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change   func(*Manifest)
		sent     bool
		replaced bool
	}{
		"another title":                    {func(m *Manifest) { m.Title = "Other" }, false, false},
		"the name without custom/":         {func(m *Manifest) { m.Name = bare(m.Name) }, false, false},
		"the same base image":              {func(m *Manifest) { m.BaseImage = "ubuntu/jammy" }, false, false},
		"nothing said on checksum or size": {func(m *Manifest) { m.SHA256, m.Size, m.File = "", 0, "" }, false, false},
		"another file type":                {func(m *Manifest) { m.FileType = "ddgz" }, true, true},
		"another base image":               {func(m *Manifest) { m.BaseImage = "ubuntu/noble" }, true, true},
		"another name":                     {func(m *Manifest) { m.Name = "custom/other" }, true, false},
	} {
		w := newWorld(t, "3.7.3")
		m := w.manifest()
		m.BaseImage = "ubuntu/jammy"
		w.mustUpload(m)
		before := len(w.writes())
		tt.change(&m)
		result, err := w.upload(context.Background(), w.client, m)
		if err != nil || result.AlreadyThere == tt.sent || (len(w.writes()) > before) != tt.sent || result.Replaced != tt.replaced {
			t.Errorf("%s: %+v, %v, sent %v", name, result, err, w.writes()[before:])
			continue
		}
		got := w.named(m.Name)
		content, _ := got[0].Content()
		if m.BaseImage != "" && got[0].BaseImage != m.BaseImage || content.FileType != inMAAS[m.FileType] || !content.Complete || len(got) != 1 {
			t.Errorf("%s: MAAS has %+v", name, got)
		}
	}
}

func TestNewContentReplacesTheOld(t *testing.T) {
	t.Parallel()
	for _, version := range versions() {
		w := newWorld(t, version)
		first := w.mustUpload(w.manifest())
		w.write(2, testSize+5)
		second := w.mustUpload(w.manifest())
		if !second.Replaced || second.AlreadyThere || first.SHA256 == second.SHA256 || second.Resource.ID != first.Resource.ID {
			t.Errorf("%s: %+v after %+v", version, second, first)
		}
	}
}

func TestOtherArchitectureIsAnotherImage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "3.7.3")
	m := w.manifest()
	m.Architecture = "arm64/generic"
	if _, err := w.upload(context.Background(), w.client, m); !errors.Is(err, maas.ErrInvalid) || !strings.Contains(err.Error(), "not a valid architecture") {
		t.Errorf("got %v", err)
	}
	if len(w.anew) > 0 || len(w.named(testName)) > 0 {
		t.Errorf("something was left, or begun anew: %v", w.anew)
	}
}

func TestRefusalLeavesWhatIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "3.7.3")
	m := w.manifest()
	first := w.mustUpload(m)
	for name, change := range map[string]func(*Manifest){
		"no such base image": func(m *Manifest) { m.BaseImage = "nope" },
		"no such file type":  func(m *Manifest) { m.FileType = "zip" },
		"no name":            func(m *Manifest) { m.Name = "" },
		"a reserved name":    func(m *Manifest) { m.Name = "ubuntu/jammy" },
	} {
		wrong := m
		change(&wrong)
		_, err := w.upload(context.Background(), w.client, wrong)
		var unfinished *UnfinishedError
		if err == nil || errors.As(err, &unfinished) {
			t.Errorf("%s: %v", name, err)
		}
		w.hasArrived(first, m)
	}
}

func TestNameThatMAASCannotReadIsNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "3.7.3")
	m := w.manifest()
	m.Name = "custom/a/b"
	_, err := w.upload(context.Background(), w.client, m)
	if err == nil || !strings.Contains(err.Error(), `"custom/a/b" is not a name that MAAS takes`) || len(w.anew) > 0 || len(w.region.Requests()) > 0 {
		t.Errorf("%v after %v", err, w.region.Requests())
	}
}

func TestNonAdministratorIsToldSo(t *testing.T) {
	t.Parallel()
	for _, version := range versions() {
		w := newWorld(t, version)
		_, err := w.upload(context.Background(), w.user, w.manifest())
		var unfinished *UnfinishedError
		if !errors.Is(err, maas.ErrForbidden) || errors.As(err, &unfinished) || len(w.anew) > 0 || len(w.named(testName)) > 0 {
			t.Errorf("%s: %v", version, err)
		}
		// Looking is allowed.
		w.mustUpload(w.manifest())
		if result, err := w.upload(context.Background(), w.user, w.manifest()); err != nil || !result.AlreadyThere {
			t.Errorf("%s: %+v, %v", version, result, err)
		}
	}
}

func TestFileThatChangesWhileItIsSent(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(file string) error{
		"a byte of what was sent already": func(file string) error { return overwrite(file, 10) },
		"a byte that is still to be sent": func(file string) error { return overwrite(file, testSize-10) },
		"it becomes shorter":              func(file string) error { return os.Truncate(file, testPiece+1) },
		"it becomes longer":               func(file string) error { return os.Truncate(file, testSize+1) },
	} {
		w := newWorld(t, "3.7.3")
		m := w.manifest()
		var failed error
		w.onSent = func(sent int64) {
			if sent == testPiece {
				failed = change(w.file)
			}
		}
		result, err := w.upload(context.Background(), w.client, m)
		if failed != nil {
			t.Fatal(failed)
		}
		if name == "a byte of what was sent already" {
			// What MAAS got is what was described.
			if content, _ := result.Resource.Content(); err != nil || content.SHA256 != m.SHA256 {
				t.Errorf("%s: %+v, %v", name, result, err)
			}
			continue
		}
		if !errors.Is(err, errChanged) || len(w.anew) > 0 {
			t.Errorf("%s: %v", name, err)
		}
		w.checkUnfinished(err, "the file changed while it was read")
		w.onSent = nil
		w.mustUpload(w.manifest())
	}
}

func overwrite(file string, at int64) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte("changed"), at)
	return errors.Join(err, f.Close())
}

func TestMAASThatIsAwayIsToldAtOnce(t *testing.T) {
	t.Parallel()
	for status, kind := range map[int]error{503: maas.ErrUnavailable, 401: maas.ErrUnauthorized, 404: maas.ErrNotMAAS, 302: maas.ErrNotMAAS} {
		w := newWorld(t, "3.7.3")
		w.between = func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
			answer(status, "text/html", "<html>")(rw, r, next)
		}
		_, err := w.upload(context.Background(), w.client, w.manifest())
		if !errors.Is(err, kind) || len(w.waits) > 0 || len(w.anew) > 0 {
			t.Errorf("%d: %v after %v", status, err, w.waits)
		}
	}
}
