package maas

import "context"

// Tag is a label that machines can carry.
type Tag struct {
	Name       string `json:"name"`
	Definition string `json:"definition"` // an XPath expression when MAAS assigns the tag by itself
	Comment    string `json:"comment"`
	KernelOpts string `json:"kernel_opts"`
}

// Tags lists all tags.
func (c *Client) Tags(ctx context.Context) ([]Tag, error) {
	return list[Tag](ctx, c, read("list_tags", "tags/"))
}
