package simulator

import "net/http"

// userOperations are the calls of users.
func userOperations() []operation {
	return []operation{
		{http.MethodGet, "/users/", "", users, listUsers, ""},
		{http.MethodGet, "/users/", "whoami", users, whoAmI, ""},
		{http.MethodGet, "/users/{username}/", "", users, readUser, ""},
	}
}

type userJSON struct {
	IsSuperuser bool   `json:"is_superuser"`
	Username    string `json:"username"`
	Email       string `json:"email"`
	IsLocal     bool   `json:"is_local"`
	ResourceURI string `json:"resource_uri"`
}

func renderUser(u *user) userJSON {
	return userJSON{u.admin, u.name, u.email, true, apiPrefix + "/users/" + u.name + "/"}
}

func whoAmI(c *call) (*answer, *refusal) { return ok(renderUser(c.user)) }

func listUsers(c *call) (*answer, *refusal) {
	out := []userJSON{renderUser(&user{name: "MAAS", email: "maas@localhost", admin: c.r.since(3, 5)})}
	for _, u := range c.users.all() {
		out = append(out, renderUser(u))
	}
	return ok(out)
}

func readUser(c *call) (*answer, *refusal) {
	u, found := c.users.get(c.vars["username"])
	if !found {
		return nil, notFound("User")
	}
	return ok(renderUser(u))
}
