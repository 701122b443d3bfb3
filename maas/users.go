package maas

import (
	"context"
	"net/url"
)

// User is a MAAS user.
type User struct {
	Username    string `json:"username"`
	Email       string `json:"email"`
	IsSuperuser bool   `json:"is_superuser"` // may write DNS, tags, zones …
	IsLocal     bool   `json:"is_local"`
}

// WhoAmI returns the user that the API key belongs to. It is the cheapest check of the key.
func (c *Client) WhoAmI(ctx context.Context) (User, error) {
	r := read("whoami", "users/")
	r.query = url.Values{"op": {"whoami"}}
	var user User
	err := c.do(ctx, r, whole(func(body []byte) error {
		if err := decodeObject(body, &user); err != nil {
			return err
		}
		return mustHave("username", user.Username)
	}))
	return user, err
}
