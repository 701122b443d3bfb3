package simulator

// EnsureAdmin makes an admin of this name who has no API key, as people are who
// use MAAS in their browser, unless there is a user of that name.
func (r *Region) EnsureAdmin(name string) {
	r.change(func(t *tx) *refusal {
		if _, there := t.users.get(name); !there {
			insert(t, t.users, name, &user{name: name, email: name + "@example.com", admin: true})
		}
		return nil
	})
}
