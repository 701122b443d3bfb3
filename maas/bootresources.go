package maas

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// BootResource is an image that MAAS holds for one architecture and kernel.
type BootResource struct {
	ID           int    `json:"id"`
	Type         string `json:"type"` // Synced or Uploaded
	Name         string `json:"name"` // ubuntu/jammy; an uploaded custom image has no "custom/" prefix here
	Architecture string `json:"architecture"`
	Subarches    string `json:"subarches"` // comma-separated
	Title        string `json:"title"`
	BaseImage    string `json:"base_image"` // MAAS 3.5 and newer
	// Sets are the versions of the image, by name. MAAS sends them when one boot resource is read or created, not in lists.
	Sets map[string]BootResourceSet `json:"sets"`
}

// IsCustom reports whether somebody uploaded the image under a name of its own.
func (b BootResource) IsCustom() bool {
	return b.Type == "Uploaded" && !strings.Contains(b.Name, "/")
}

// BootResources lists the images. The list does not say whether an image is complete.
func (c *Client) BootResources(ctx context.Context) ([]BootResource, error) {
	return list[BootResource](ctx, c, read("list_boot_resources", "boot-resources/"))
}

// UploadedBootResources lists the images that somebody uploaded. The list does not say whether an image is complete.
func (c *Client) UploadedBootResources(ctx context.Context) ([]BootResource, error) {
	r := read("list_boot_resources", "boot-resources/")
	r.query = fields{}.add("type", "uploaded").values()
	return list[BootResource](ctx, c, r)
}

// BootResource reads one image with its sets and files.
func (c *Client) BootResource(ctx context.Context, id int) (*BootResource, error) {
	r := read("read_boot_resource", bootResourcePath(id))
	if err := checkID(r.operation, id); err != nil {
		return nil, err
	}
	return c.bootResource(ctx, r)
}

// BootResourceParams describes an image whose content will be uploaded.
type BootResourceParams struct {
	Name         string // custom/u-2204-k-1.30; MAAS stores it without "custom/"
	Architecture string // amd64/generic
	SHA256       string // of the content, in hex
	Size         int64  // bytes
	Title        string
	FileType     string // tgz, tbz, txz, ddtgz, ddtbz, ddtxz, ddtar, ddbz2, ddgz, ddxz or ddraw; "" means tgz
	// BaseImage is the system that the image is made from, such as ubuntu/jammy; "" lets MAAS take that of commissioning. MAAS 3.3 to 3.7: of
	// a boot resource that exists, it does not change.
	BaseImage string
}

// CreateBootResource announces an image: the answer has an empty set with one file, and the address to which its content has to be sent.
// MAAS 3.3 to 3.7: where a boot resource of this name and architecture exists, it gets the set, and the content that it had is deleted
// at once. MAAS 3.3 and 3.4 keep each content once: the file may be complete already, or hold a part of an upload that was given up.
func (c *Client) CreateBootResource(ctx context.Context, params BootResourceParams) (*BootResource, error) {
	r := write("create_boot_resource", http.MethodPost, "boot-resources/")
	switch digest, err := hex.DecodeString(params.SHA256); {
	case params.Name == "" || params.Architecture == "":
		return nil, invalid(r.operation, "an image needs a name and an architecture")
	case err != nil || len(digest) != 32:
		return nil, invalid(r.operation, "a SHA-256 checksum has 64 hexadecimal digits")
	case params.Size < 1:
		return nil, invalid(r.operation, "the size of an image is a positive number of bytes")
	}
	r.form = fields{}.add("name", params.Name).add("architecture", params.Architecture).add("sha256", strings.ToLower(params.SHA256)).
		add("size", strconv.FormatInt(params.Size, 10)).add("title", params.Title).add("filetype", params.FileType).
		add("base_image", params.BaseImage).values()
	return c.bootResource(ctx, r)
}

// DeleteBootResource removes an image and its content. One that does not exist is an error of kind [KindNotFound].
func (c *Client) DeleteBootResource(ctx context.Context, id int) error {
	r := write("delete_boot_resource", http.MethodDelete, bootResourcePath(id))
	if err := checkID(r.operation, id); err != nil {
		return err
	}
	return c.do(ctx, r, nil)
}

func (c *Client) bootResource(ctx context.Context, r request) (*BootResource, error) {
	resource := new(BootResource)
	err := c.do(ctx, r, whole(func(body []byte) error {
		if err := decodeObject(body, resource); err != nil {
			return err
		}
		return mustHave("name", resource.Name)
	}))
	if err != nil {
		return nil, err
	}
	return resource, nil
}

func bootResourcePath(id int) string { return fmt.Sprintf("boot-resources/%d/", id) }
