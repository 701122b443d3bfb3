package maas

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
)

// ErasesOnRelease says whether MAAS erases disks at every release, also at one that does not ask for it: its setting
// enable_disk_erasing_on_release. Any user may read it. MAAS 3.3 to 3.7.
func (c *Client) ErasesOnRelease(ctx context.Context) (bool, error) {
	r := read("read_setting", "maas/")
	r.op = "get_config"
	r.query = url.Values{"name": {"enable_disk_erasing_on_release"}}
	var erases bool
	err := c.do(ctx, r, whole(func(body []byte) error {
		if bytes.Equal(bytes.TrimSpace(body), []byte("null")) {
			return errShape("true or false was expected")
		}
		return json.Unmarshal(body, &erases)
	}))
	return erases, err
}
