package maas

import (
	"context"
	"strconv"
	"strings"
)

// Version is what MAAS says of itself.
type Version struct {
	Version      string   `json:"version"` // such as 3.7.3 or 3.4.0~rc1
	Subversion   string   `json:"subversion"`
	Capabilities []string `json:"capabilities"` // the same in MAAS 2.9 to 3.7: look at Version instead
}

// Version reads MAAS's version. It needs no valid API key.
func (c *Client) Version(ctx context.Context) (Version, error) {
	r := read("read_version", "version/")
	r.anonymous = true
	var v Version
	err := c.do(ctx, r, whole(func(body []byte) error {
		if err := decodeObject(body, &v); err != nil {
			return err
		}
		return mustHave("version", v.Version)
	}))
	return v, err
}

// AtLeast reports whether MAAS is of the given release or a newer one; candidates of a release count as it.
func (v Version) AtLeast(major, minor int) bool {
	gotMajor, rest, _ := strings.Cut(v.Version, ".")
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	a, errA := strconv.Atoi(gotMajor)
	b, errB := strconv.Atoi(rest[:end])
	if errA != nil || errB != nil {
		return false
	}
	return a > major || a == major && b >= minor
}
