package maas

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

const imageSHA256 = "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"

func TestRecordedBootResourcesDecode(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		versions []string // of MAAS, that recorded it
		resource BootResource
		set      string
		file     BootResourceFile
	}{
		"boot-resource.create.custom": {[]string{"3.4.10"}, BootResource{ID: 6, Type: "Uploaded", Name: "img-a", Architecture: "amd64/generic", Subarches: "generic", Title: "T custom"},
			"20261130", BootResourceFile{"root-tgz", "root-tgz", imageSHA256, 64, false, 0, "/MAAS/api/2.0/boot-resources/6/upload/17/"}},
		"boot-resource.create.again": {[]string{"3.7.3"}, BootResource{ID: 6, Type: "Uploaded", Name: "img-a", Architecture: "amd64/generic", Subarches: "generic", Title: "T again", BaseImage: "ubuntu/jammy"},
			"20261130.1", BootResourceFile{"root.tgz", "root-tgz", imageSHA256, 64, false, 0, "/MAAS/api/2.0/boot-resources/6/upload/16/"}},
		"boot-resource.read.incomplete": {[]string{"3.7.3"}, BootResource{ID: 6, Type: "Uploaded", Name: "img-a", Architecture: "amd64/generic", Subarches: "generic", Title: "T again", BaseImage: "ubuntu/jammy"},
			"20261130.1", BootResourceFile{"root.tgz", "root-tgz", imageSHA256, 64, false, 0, "/MAAS/api/2.0/boot-resources/6/upload/16/"}},
		"boot-resource.read": {[]string{"3.4.10"}, BootResource{ID: 5, Type: "Uploaded", Name: "u-2204-0-k-1.30.4", Architecture: "amd64/generic", Subarches: "generic", Title: "Ubuntu 22.04 K8s 1.30.4"},
			"20260101", BootResourceFile{"name-cgdEgD", "root-tgz", "9c5158610ef775268e127c98305e69301d47dbd47ac407fbd9965d07117226f0", 512, true, 0, ""}},
	}
	for name, tt := range tests {
		for _, version := range tt.versions {
			recorded, ok := recordings(t, version)[name]
			if !ok {
				t.Errorf("%s %s is not recorded", version, name)
				continue
			}
			c, s := answering(t, recorded)
			got, err := c.BootResource(context.Background(), tt.resource.ID)
			if err != nil {
				t.Errorf("%s %s: %v", version, name, err)
				continue
			}
			if r := s.only(t); r.method != "GET" || r.path != "/MAAS/api/2.0/boot-resources/"+recordedID(recorded)+"/" {
				t.Errorf("%s: asked %s %s", name, r.method, r.path)
			}
			set, ok := got.Newest()
			file, one := got.Content()
			if got.Sets = nil; !ok || !one || !reflect.DeepEqual(*got, tt.resource) || set.Version != tt.set || set.Complete != file.Complete || file != tt.file {
				t.Errorf("%s %s: got %+v, set %+v, file %+v", version, name, got, set, file)
			}
		}
	}
}

// recordedID is the ID in a recorded answer about one boot resource.
func recordedID(r recording) string {
	_, rest, _ := strings.Cut(r.Body, `"id":`)
	id, _, _ := strings.Cut(strings.TrimSpace(rest), ",")
	return id
}

func TestSyncedImageHasSeveralFiles(t *testing.T) {
	t.Parallel()
	c, _ := answering(t, recordings(t, "3.7.3")["boot-resource.read.synced"])
	got, err := c.BootResource(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	set, ok := got.Newest()
	if _, one := got.Content(); !ok || one || len(set.Files) != 3 || !set.Complete || set.Size != 1536 {
		t.Errorf("got %+v", set)
	}
}

func TestNewestSetIsTheLastWithFiles(t *testing.T) {
	t.Parallel()
	some := map[string]BootResourceFile{"root.tgz": {}}
	tests := map[string]struct {
		with, without []string // versions of sets with and without files
		want          string
	}{
		"none":                     {nil, nil, ""},
		"only an empty one":        {nil, []string{"20260101"}, ""},
		"one":                      {[]string{"20260101"}, nil, "20260101"},
		"the second of a day":      {[]string{"20260101", "20260101.1"}, nil, "20260101.1"},
		"the eleventh of a day":    {[]string{"20260101.9", "20260101.10"}, nil, "20260101.10"},
		"the next day":             {[]string{"20260101.10", "20260102"}, nil, "20260102"},
		"emptied later ones":       {[]string{"20260101"}, []string{"20260102"}, "20260101"},
		"versions of another kind": {[]string{"a", "b"}, nil, "b"},
	}
	for name, tt := range tests {
		b := BootResource{Sets: map[string]BootResourceSet{}}
		for _, version := range tt.with {
			b.Sets[version] = BootResourceSet{Version: version, Files: some}
		}
		for _, version := range tt.without {
			b.Sets[version] = BootResourceSet{Version: version}
		}
		if set, ok := b.Newest(); set.Version != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: got %q, %v", name, set.Version, ok)
		}
	}
}

func TestImageIsAnnouncedWithAForm(t *testing.T) {
	t.Parallel()
	c, s := answering(t, recordings(t, "3.7.3")["boot-resource.create.custom"])
	params := BootResourceParams{Name: "custom/img-a", Architecture: "amd64/generic", SHA256: strings.ToUpper(imageSHA256), Size: 64, Title: "T custom", FileType: "tgz", BaseImage: "ubuntu/jammy"}
	got, err := c.CreateBootResource(context.Background(), params)
	if err != nil || got.ID != 6 {
		t.Fatalf("got %+v, %v", got, err)
	}
	want := url.Values{"name": {"custom/img-a"}, "architecture": {"amd64/generic"}, "sha256": {imageSHA256}, "size": {"64"}, "title": {"T custom"}, "filetype": {"tgz"}, "base_image": {"ubuntu/jammy"}}
	if r := s.only(t); r.method != "POST" || r.path != "/MAAS/api/2.0/boot-resources/" || len(r.query) > 0 || !reflect.DeepEqual(r.form, want) {
		t.Errorf("sent %s %s %v %v", r.method, r.path, r.query, r.form)
	}
}

func TestUploadedImagesAreAskedForByType(t *testing.T) {
	t.Parallel()
	c, s := answering(t, recordings(t, "3.7.3")["boot-resources.list"])
	if _, err := c.UploadedBootResources(context.Background()); err != nil {
		t.Fatal(err)
	}
	if r := s.only(t); !reflect.DeepEqual(r.query, url.Values{"type": {"uploaded"}}) {
		t.Errorf("asked for %v", r.query)
	}
}

func TestPieceIsSentAsItIs(t *testing.T) {
	t.Parallel()
	piece := []byte("\x1f\x8b\x00=&%\xff")
	var sent *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r
		body, _ = io.ReadAll(r.Body)
		text(200, "text/plain; charset=utf-8", "OK").ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	c := clientOf(t, server.URL+"/MAAS")
	if err := c.UploadBootResource(context.Background(), "/MAAS/api/2.0/boot-resources/6/upload/17/", piece); err != nil {
		t.Fatal(err)
	}
	if sent.Method != "PUT" || sent.URL.Path != "/MAAS/api/2.0/boot-resources/6/upload/17/" || sent.URL.RawQuery != "" ||
		sent.Header.Get("Content-Type") != "application/octet-stream" || sent.ContentLength != int64(len(piece)) || sent.Header.Get("Authorization") == "" {
		t.Errorf("sent %s %s with %v", sent.Method, sent.URL, sent.Header)
	}
	if !bytes.Equal(body, piece) {
		t.Errorf("sent %q", body)
	}
}

func TestUploadGoesNowhereElse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		base, address string
		want          string // path of the request; "" for none
	}{
		"MAAS's own":                       {"/MAAS", "/MAAS/api/2.0/boot-resources/6/upload/17/", "/MAAS/api/2.0/boot-resources/6/upload/17/"},
		"behind a proxy with a prefix":     {"/lab/MAAS", "/MAAS/api/2.0/boot-resources/6/upload/17/", "/lab/MAAS/api/2.0/boot-resources/6/upload/17/"},
		"a proxy that drops MAAS's prefix": {"/api/2.0", "/api/2.0/boot-resources/6/upload/17/", "/api/2.0/boot-resources/6/upload/17/"},
		"none":                             {"/MAAS", "", ""},
		"another host":                     {"/MAAS", "http://evil.example/MAAS/api/2.0/boot-resources/6/upload/17/", ""},
		"another host without a scheme":    {"/MAAS", "//evil.example/MAAS/api/2.0/boot-resources/6/upload/17/", ""},
		"another prefix":                   {"/MAAS", "/OTHER/api/2.0/boot-resources/6/upload/17/", ""},
		"part of a prefix":                 {"/MAAS", "/AAS/api/2.0/boot-resources/6/upload/17/", ""},
		"another resource":                 {"/MAAS", "/MAAS/api/2.0/machines/4y3h7n/", ""},
		"a way out":                        {"/MAAS", "/MAAS/api/2.0/boot-resources/6/upload/../../../machines/", ""},
		"an escaped way out":               {"/MAAS", "/MAAS/api/2.0/boot-resources/6/upload/%2e%2e/", ""},
		"a query":                          {"/MAAS", "/MAAS/api/2.0/boot-resources/6/upload/17/?op=import", ""},
		"not from the root":                {"/MAAS", "MAAS/api/2.0/boot-resources/6/upload/17/", ""},
	}
	for name, tt := range tests {
		s := serve(t, text(200, "text/plain", "OK"))
		c := clientOf(t, s.URL+tt.base)
		err := c.UploadBootResource(context.Background(), tt.address, []byte("x"))
		var path string
		for _, r := range s.all() {
			path += r.path
		}
		if path != tt.want || (err == nil) != (tt.want != "") || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: sent to %q, %v", name, path, err)
		}
		checkMessage(t, err)
	}
}

func TestImageArgumentsAreCheckedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	c, s := answering(t, text(200, "application/json", "{}"))
	ctx := context.Background()
	good := BootResourceParams{Name: "custom/a", Architecture: "amd64/generic", SHA256: imageSHA256, Size: 1}
	for name, change := range map[string]func(*BootResourceParams){
		"no name":         func(p *BootResourceParams) { p.Name = "" },
		"no architecture": func(p *BootResourceParams) { p.Architecture = "" },
		"no checksum":     func(p *BootResourceParams) { p.SHA256 = "" },
		"a short one":     func(p *BootResourceParams) { p.SHA256 = "7ce1" },
		"one of letters":  func(p *BootResourceParams) { p.SHA256 = strings.Repeat("x", 64) },
		"no size":         func(p *BootResourceParams) { p.Size = 0 },
	} {
		params := good
		change(&params)
		if _, err := c.CreateBootResource(ctx, params); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, read := c.BootResource(ctx, 0)
	for name, err := range map[string]error{"read": read, "delete": c.DeleteBootResource(ctx, -1), "upload": c.UploadBootResource(ctx, "/MAAS/api/2.0/boot-resources/6/upload/17/", nil)} {
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(s.all()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestRecordedRefusalsOfImages(t *testing.T) {
	t.Parallel()
	params := BootResourceParams{Name: "custom/a", Architecture: "amd64/generic", SHA256: imageSHA256, Size: 64}
	create := func(c *Client) error { _, err := c.CreateBootResource(context.Background(), params); return err }
	for name, tt := range map[string]struct {
		call func(*Client) error
		kind error
		text string
	}{
		"boot-resource.create.user":     {create, ErrForbidden, "This method is reserved for admin users."},
		"boot-resource.create.reserved": {create, ErrInvalid, "ubuntu/jammy is a reserved name"},
		"boot-resource.create.base-bad": {create, ErrInvalid, "a base image must follow the format"},
		"boot-resource.delete.again":    {func(c *Client) error { return c.DeleteBootResource(context.Background(), 6) }, ErrNotFound, "BootResource matching query does not exist."},
		"boot-resource.read.unknown":    {func(c *Client) error { _, err := c.BootResource(context.Background(), 6); return err }, ErrNotFound, "No BootResource matches"},
	} {
		c, _ := answering(t, recordings(t, "3.7.3")[name])
		if err := tt.call(c); !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Only of the very object that was to be deleted does MAAS's failure say that there is none.
func TestFailedDeletionDoesNotMeanThatThereIsNone(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"Node matching query does not exist.", "BootResourceSet matching query does not exist.", "deadlock detected"} {
		c, _ := answering(t, text(http.StatusInternalServerError, "text/plain; charset=utf-8", said))
		for _, err := range []error{c.DeleteBootResource(context.Background(), 6), c.DeleteDNSResource(context.Background(), 7)} {
			if !errors.Is(err, ErrOutcomeUnknown) {
				t.Errorf("%s: %v", said, err)
			}
		}
	}
}
