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

// CreateTag makes a tag that machines are given by hand. It needs an administrator's key. One that exists is [ErrInvalid].
func (c *Client) CreateTag(ctx context.Context, name, comment string) (*Tag, error) {
	r := write("create_tag", "POST", "tags/")
	if err := checkTag(r.operation, name); err != nil {
		return nil, err
	}
	r.form = fields{}.add("name", name).add("comment", comment).values()
	return object[Tag](ctx, c, r)
}

// TagMachine gives a tag to a machine. It needs an administrator's key, works whoever owns the machine, and is no error where the machine has
// the tag, or where there is no such machine. A tag that does not exist is [ErrNotFound].
func (c *Client) TagMachine(ctx context.Context, name, systemID string) error {
	r := write("tag_machine", "POST", "tags/"+name+"/")
	if err := checkTag(r.operation, name); err != nil {
		return err
	}
	if err := checkSystemID(r.operation, systemID); err != nil {
		return err
	}
	r.op = "update_nodes"
	r.form = fields{}.add("add", systemID).values()
	return c.do(ctx, r, nil)
}

// DeleteTag deletes a tag, and takes it off all machines. It needs an administrator's key.
func (c *Client) DeleteTag(ctx context.Context, name string) error {
	r := write("delete_tag", "DELETE", "tags/"+name+"/")
	if err := checkTag(r.operation, name); err != nil {
		return err
	}
	return c.do(ctx, r, nil)
}

// checkTag refuses what is no name of a tag that is written by programs. MAAS itself takes word characters of any script.
func checkTag(operation, name string) error {
	if name == "" || len(name) > 256 || !onlyHas(name, "-_") {
		return invalid(operation, "the name of a tag is letters, digits, hyphens and underscores")
	}
	return nil
}
