package checks

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

const content = "an image"

// announce makes a boot resource whose content is to follow.
func (w *world) announce(name, architecture string) *maas.BootResource {
	w.Helper()
	sum := sha256.Sum256([]byte(content))
	made, err := w.checks.maas.CreateBootResource(w.Context(), maas.BootResourceParams{
		Name: name, Architecture: architecture, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content)),
	})
	if err != nil {
		w.Fatal(err)
	}
	return made
}

func (w *world) complete(image *maas.BootResource) {
	w.Helper()
	file, _ := image.Content()
	if err := w.checks.maas.UploadBootResource(w.Context(), file.UploadURI, []byte(content)); err != nil {
		w.Fatal(err)
	}
}

func TestImagesAreJudgedByWhatMAASHasOfThem(t *testing.T) {
	t.Parallel()
	config := simulator.Config{Images: []simulator.Image{
		{Name: "ubuntu/jammy"}, {Name: "custom/whole"}, {Name: "custom/whole", Architecture: "arm64/generic"}, {Name: "custom/half", Architecture: "arm64/generic"},
	}}
	for name, test := range map[string]struct {
		wish          ImageWish
		reason        string
		architectures []string
	}{
		"whole":                               {image("custom/whole", ""), "ImagesFound", []string{"amd64", "arm64"}},
		"whole for one":                       {image("custom/whole", "arm64"), "ImagesFound", []string{"amd64", "arm64"}},
		"of MAAS's own":                       {image("ubuntu/jammy", ""), "ImagesFound", []string{"amd64"}},
		"complete for one, partly for others": {image("custom/half", ""), "ImagesFound", []string{"arm64"}},
		"partly for the one asked for":        {image("custom/half", "amd64"), "ImageIncomplete", []string{"arm64"}},
		"partly":                              {image("custom/part", ""), "ImageIncomplete", nil},
		"not there":                           {image("custom/none", ""), "ImageNotFound", nil},
		"MAAS chooses":                        {image("ubuntu/22.04", ""), "ImagesFound", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, config)
			w.announce("custom/part", "amd64/generic")
			w.announce("custom/half", "amd64/generic")
			found, architectures := w.checks.Image(t.Context(), test.wish)
			if found.Reason != test.reason || !slices.Equal(architectures, test.architectures) {
				t.Errorf("found %+v for %v, want %s for %v", found, architectures, test.reason, test.architectures)
			}
			if of := w.checks.Look(t.Context(), Wishes{Images: []ImageWish{test.wish}}).Images; of != found {
				t.Errorf("a cluster is told %+v", of)
			}
			if found.Reason == "ImageIncomplete" && !strings.Contains(found.Message, "in part only, which spec.template.spec.image of MaasMachineTemplate default/w asks for: wait until it is complete") {
				t.Errorf("message: %s", found.Message)
			}
		})
	}
}

func TestAnUploadIsNoticedWhenItIsComplete(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	wish := image("custom/x", "")
	look := func(want string) {
		t.Helper()
		if found, _ := w.checks.Image(t.Context(), wish); found.Reason != want {
			t.Errorf("found %+v, want %s", found, want)
		}
	}
	made := w.announce("custom/x", "amd64/generic")
	look("ImageIncomplete")
	w.complete(made)
	look("ImageIncomplete") // it is not asked for all the time
	w.now = w.now.Add(floor)
	look("ImagesFound")

	// Whoever uploads it again takes the content away at once.
	w.announce("custom/x", "amd64/generic")
	w.now = w.now.Add(beforeClaim)
	look("ImageIncomplete")

	if err := w.checks.maas.DeleteBootResource(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(floor)
	look("ImageNotFound")
}

func TestOneLookIntoAnImageServesAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{Images: []simulator.Image{{Name: "custom/x"}}})
	reads := func() int {
		n := 0
		for _, r := range w.region.Requests() {
			if strings.Contains(r.Path, "/boot-resources/") && !strings.HasSuffix(r.Path, "/boot-resources/") {
				n++
			}
		}
		return n
	}
	for range 20 {
		w.checks.Image(t.Context(), image("custom/x", ""))
		w.checks.Look(t.Context(), Wishes{Images: []ImageWish{image("custom/x", "amd64")}})
	}
	if n := reads(); n != 1 {
		t.Errorf("it was read %d times", n)
	}
}

func TestNothingIsConcludedWhereAnImageCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, simulator.Config{})
	w.announce("custom/x", "amd64/generic")
	w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
		if strings.Contains(r.Path, "/boot-resources/") && !strings.HasSuffix(r.Path, "/boot-resources/") {
			return simulator.Fault{Status: http.StatusServiceUnavailable}
		}
		return simulator.Fault{}
	})
	if found, _ := w.checks.Image(t.Context(), image("custom/x", "")); found.Verdict != Fine {
		t.Errorf("found %+v", found)
	}
}
