package simulator

import (
	"net/http"
	"sort"
	"strconv"
	"strings"
)

type imageJSON struct {
	ID                 int                 `json:"id"`
	Type               string              `json:"type"`
	Name               string              `json:"name"`
	Architecture       string              `json:"architecture"`
	ResourceURI        string              `json:"resource_uri"`
	LastDeployed       *string             `json:"last_deployed"`
	Title              string              `json:"title,omitempty"`
	Platform           string              `json:"platform"`
	Subarches          string              `json:"subarches"`
	SupportedPlatforms string              `json:"supported_platforms"`
	BaseImage          string              `json:"base_image,omitempty"`
	Sets               map[string]imageSet `json:"sets,omitempty"`
}

type imageSet struct {
	Version  string               `json:"version"`
	Label    string               `json:"label"`
	Size     int64                `json:"size"`
	Complete bool                 `json:"complete"`
	Files    map[string]imageFile `json:"files"`
}

type imageFile struct {
	Filename string `json:"filename"`
	Filetype string `json:"filetype"`
	SHA256   string `json:"sha256"`
	Size     int64  `json:"size"`
	Complete bool   `json:"complete"`
}

func (r *Region) renderImage(i *image) imageJSON {
	out := imageJSON{
		ID: i.id, Type: "Synced", Name: i.name, Architecture: i.architecture + "/" + i.kernel, Platform: "generic",
		Subarches: "generic," + i.kernel, SupportedPlatforms: "generic", ResourceURI: apiPrefix + "/boot-resources/" + strconv.Itoa(i.id) + "/",
	}
	if i.uploaded {
		out.Type, out.Name = "Uploaded", strings.TrimPrefix(i.name, "custom/")
		out.Architecture, out.Subarches, out.Title = i.architecture+"/generic", "generic", i.title
		if r.since(3, 5) {
			out.BaseImage = i.base
		}
	}
	return out
}

func listImages(c *call) (*answer, *refusal) {
	kind := c.query.get("type")
	if kind != "" && kind != "all" && kind != "synced" && kind != "uploaded" {
		return nil, text(http.StatusBadRequest, pyRepr(kind)+" is not a valid boot resource type. Available types: ['synced', 'uploaded']")
	}
	out := []imageJSON{}
	for _, i := range c.images.all() {
		if (kind == "synced" && i.uploaded) || (kind == "uploaded" && !i.uploaded) {
			continue
		}
		out = append(out, c.r.renderImage(i))
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Type+out[i].Name < out[j].Type+out[j].Name })
	return ok(out)
}

func readImage(c *call) (*answer, *refusal) {
	id, err := strconv.Atoi(c.vars["id"])
	i, found := c.images.get(id)
	if err != nil || !found {
		return nil, notFound("BootResource")
	}
	out := c.r.renderImage(i)
	file, label := imageFile{Filename: "root.tgz", Filetype: "root-tgz", SHA256: strings.Repeat("0", 64), Size: 512, Complete: true}, "uploaded"
	if !i.uploaded {
		label, file.Filename, file.Filetype = "stable", "squashfs", "squashfs"
	}
	const version = "20260101"
	out.Sets = map[string]imageSet{version: {version, label, file.Size, true, map[string]imageFile{file.Filename: file}}}
	return ok(out)
}

func isImporting(*call) (*answer, *refusal) { return ok(false) }
