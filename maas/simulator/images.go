package simulator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// imageOperations are the calls of images.
func imageOperations() []operation {
	return []operation{
		{http.MethodGet, "/boot-resources/", "", users, listImages, ""},
		{http.MethodGet, "/boot-resources/", "is_importing", users, isImporting, "always false, for nothing is imported"},
		{http.MethodPost, "/boot-resources/", "", admins, createImage, "no content within the request itself"},
		{http.MethodGet, "/boot-resources/{id}/", "", users, readImage, ""},
		{http.MethodDelete, "/boot-resources/{id}/", "", admins, deleteImage, ""},
		{http.MethodPut, uploadPath, "", admins, uploadImage, ""},
	}
}

type imageJSON struct {
	ID                 int            `json:"id"`
	Type               string         `json:"type"`
	Name               string         `json:"name"`
	Architecture       string         `json:"architecture"`
	ResourceURI        string         `json:"resource_uri"`
	LastDeployed       *string        `json:"last_deployed"`
	Title              *string        `json:"title,omitempty"`
	Platform           string         `json:"platform,omitempty"`
	Subarches          string         `json:"subarches"`
	SupportedPlatforms string         `json:"supported_platforms,omitempty"`
	BaseImage          string         `json:"base_image,omitempty"`
	Sets               *imageSetsJSON `json:"sets,omitempty"`
}

// imageSetsJSON is an object whose keys are the versions, the newest first.
type imageSetsJSON []imageSetJSON

// MarshalJSON keeps the order, which a map would lose.
func (s imageSetsJSON) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, set := range s {
		value, err := json.Marshal(set)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(compact(set.Version) + ":")
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

type imageSetJSON struct {
	Version  string                   `json:"version"`
	Label    string                   `json:"label"`
	Size     int64                    `json:"size"`
	Complete bool                     `json:"complete"`
	Progress *json.Number             `json:"progress,omitempty"`
	Files    map[string]imageFileJSON `json:"files"`
}

type imageFileJSON struct {
	Filename       string       `json:"filename"`
	Filetype       string       `json:"filetype"`
	SHA256         string       `json:"sha256"`
	FilenameOnDisk string       `json:"filename_on_disk,omitempty"`
	Size           int64        `json:"size"`
	Complete       bool         `json:"complete"`
	Progress       *json.Number `json:"progress,omitempty"`
	UploadURI      string       `json:"upload_uri,omitempty"`
}

func (r *Region) renderImage(i *image) imageJSON {
	out := imageJSON{
		ID: i.id, Type: "Synced", Name: i.name, Architecture: i.architecture + "/" + i.kernel,
		Subarches: "generic," + i.kernel, ResourceURI: imagePath(i),
	}
	if !i.posted {
		out.Platform, out.SupportedPlatforms = "generic", "generic"
	}
	if i.uploaded {
		out.Type, out.Name = "Uploaded", strings.TrimPrefix(i.name, "custom/")
		out.Architecture, out.Subarches = i.architecture+"/generic", "generic"
		if i.title != "" || i.posted {
			out.Title = &i.title
		}
		if r.since(3, 5) {
			out.BaseImage = i.base
		}
	}
	return out
}

func imagePath(i *image) string { return apiPrefix + "/boot-resources/" + strconv.Itoa(i.id) + "/" }

// renderSets shows the versions of an image. A version whose files were
// replaced stays, empty.
func (s *state) renderSets(r *Region, i *image) *imageSetsJSON {
	out := imageSetsJSON{}
	for _, set := range slices.Backward(i.sets) {
		shown := imageSetJSON{Version: set.version, Label: set.label, Files: map[string]imageFileJSON{}}
		var done int64
		for _, f := range s.filesOf(i, set.version) {
			c := s.contents.rows[f.content]
			shown.Files[f.filename] = r.renderImageFile(i, f, c)
			shown.Size += c.total
			done += c.done
		}
		shown.Complete = s.setComplete(i, set.version)
		if !shown.Complete {
			shown.Progress = r.progress(100*float64(done), float64(shown.Size))
		}
		out = append(out, shown)
	}
	return &out
}

func (r *Region) renderImageFile(i *image, f *imageFile, c *content) imageFileJSON {
	out := imageFileJSON{Filename: f.filename, Filetype: f.filetype, SHA256: c.sha256, Size: c.total, Complete: c.complete()}
	if r.since(3, 6) {
		out.FilenameOnDisk = f.diskName
	}
	if out.Complete {
		return out
	}
	if r.since(3, 5) {
		out.Progress = r.progress(100*float64(c.done), float64(c.total))
	} else {
		// MAAS 3.4: LargeFile.progress divides the wrong way round.
		out.Progress = r.progress(float64(c.total), float64(c.done))
	}
	if i.uploaded {
		out.UploadURI = imagePath(i) + "upload/" + strconv.Itoa(f.id) + "/"
	}
	return out
}

// progress prints a quotient as Python does. Nothing is 0 in MAAS 3.4 and 0.0
// in newer ones.
func (r *Region) progress(part, whole float64) *json.Number {
	text := "0.0"
	switch {
	case part > 0 && whole > 0:
		text = strconv.FormatFloat(part/whole, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
	case !r.since(3, 5):
		text = "0"
	}
	number := json.Number(text)
	return &number
}

// listImages lists all, also those whose upload is not complete. MAAS 3.4 knows
// a type more, of which there are none.
func listImages(c *call) (*answer, *refusal) {
	types := []string{"synced", "uploaded"}
	if !c.r.since(3, 5) {
		types = []string{"synced", "generated", "uploaded"}
	}
	kind := c.query.get("type")
	if c.query.has("type") && kind != "all" && !slices.Contains(types, kind) {
		return nil, text(http.StatusBadRequest, "'"+kind+"' is not a valid boot resource type. Available types: "+pyReprList(types))
	}
	out := []imageJSON{}
	for _, i := range c.images.all() {
		if kind == "generated" || (kind == "synced" && i.uploaded) || (kind == "uploaded" && !i.uploaded) {
			continue
		}
		out = append(out, c.r.renderImage(i))
	}
	slices.SortStableFunc(out, func(a, b imageJSON) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Architecture, b.Architecture))
	})
	return ok(out)
}

// imageOfPath finds the image that the path names.
func (c *call) imageOfPath() (*image, bool) { return numbered(c.images, c.vars["id"]) }

func readImage(c *call) (*answer, *refusal) {
	i, found := c.imageOfPath()
	if !found {
		return nil, notFound("BootResource")
	}
	out := c.r.renderImage(i)
	out.Sets = c.renderSets(c.r, i)
	return ok(out)
}

// deleteImage removes an image, its files and their content. Machines that are
// being deployed with it fail when they come to fetch it. MAAS: what is not
// there is a 500.
func deleteImage(c *call) (*answer, *refusal) {
	i, found := c.imageOfPath()
	if !found {
		return nil, text(http.StatusInternalServerError, "BootResource matching query does not exist.")
	}
	for _, set := range i.sets {
		c.dropFiles(i, set.version)
	}
	remove(c.tx, c.images, i.id)
	return deleted()
}

func isImporting(*call) (*answer, *refusal) { return ok(false) }
