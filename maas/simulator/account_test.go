package simulator

import (
	"fmt"
	"strings"
	"testing"
)

func TestKeysBelongToTheirUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.ask("user", "POST", "/account/", "delete_authorisation_token", [2]string{"token_key", "ADMINT"}).wants(t, 404, "No Token matches the given query.")
	w.ask("user", "POST", "/account/", "update_token_name", [2]string{"token", "ADMINT"}, [2]string{"name", "x"}).wants(t, 404, "No Token matches the given query.")
	w.ask("user", "POST", "/account/", "update_token_name", [2]string{"token", "USERT"}).wants(t, 400, "No provided name!")
	w.ask("user", "POST", "/account/", "delete_authorisation_token").wants(t, 400, "No provided token_key!")

	w.ask("user", "POST", "/account/", "update_token_name", [2]string{"token", "USERC:USERT:USERS"}, [2]string{"name", "x"}).wants(t, 202, "Accepted")
	list := decoded[[]map[string]string](t, w.ask("user", "GET", "/account/", "list_authorisation_tokens"))
	if len(list) != 1 || list[0]["name"] != "x" || list[0]["token"] != "USERC:USERT:USERS" {
		t.Errorf("keys of user: %v", list)
	}
	// A key may end itself.
	w.ask("user", "POST", "/account/", "delete_authorisation_token", [2]string{"token_key", "USERT"}).wants(t, 204, "")
	w.ask("user", "GET", "/users/", "whoami").wants(t, 401, "Authorization Error: Invalid API key.")
}

func TestNewKeysComeFromTheSeed(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for _, seed := range []int64{1, 1, 2} {
		w := newWorld(t, func(cfg *Config) { cfg.Seed = seed })
		keys[w.ask("user", "POST", "/account/", "create_authorisation_token").body] = true
	}
	if len(keys) != 2 {
		t.Errorf("keys of the seeds 1, 1 and 2: %v", keys)
	}
}

func TestAccessLogKeepsNoKeysAndPasswords(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *Config) { cfg.Machines = []Machine{{Hostname: "m", SystemID: "abc346"}} })
	w.ask("user", "POST", "/account/", "update_token_name", [2]string{"token", "USERC:USERT:SECRET"}, [2]string{"name", "x"})
	w.ask("admin", "PUT", "/machines/abc346/", "", [2]string{"power_parameters_power_pass", "SECRET"})
	w.ask("admin", "PUT", "/machines/abc346/", "", [2]string{"power_parameters", `{"power_pass": "SECRET"}`})
	if log := fmt.Sprintf("%+v", w.region.Requests()); strings.Contains(log, "SECRET") {
		t.Errorf("a secret is in the access log: %s", log)
	}
}
