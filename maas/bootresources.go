package maas

import (
	"context"
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
}

// IsCustom reports whether somebody uploaded the image under a name of its own.
func (b BootResource) IsCustom() bool {
	return b.Type == "Uploaded" && !strings.Contains(b.Name, "/")
}

// BootResources lists the images. The list does not say whether an image is complete.
func (c *Client) BootResources(ctx context.Context) ([]BootResource, error) {
	return list[BootResource](ctx, c, read("list_boot_resources", "boot-resources/"))
}
