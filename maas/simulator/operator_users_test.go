package simulator_test

import (
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

func TestEnsureAdminMakesAUserOnce(t *testing.T) {
	t.Parallel()
	region, server, client, clock := start(t, simulator.Config{Users: []simulator.User{{Name: "capi", APIKey: simulator.DefaultAPIKey}}})
	region.EnsureAdmin("operator")
	region.EnsureAdmin("operator")
	region.EnsureAdmin("capi")
	me, err := client.WhoAmI(t.Context())
	if err != nil || me.Username != "capi" || me.IsSuperuser {
		t.Errorf("the user that was there is %+v, %v", me, err)
	}
	status, body := callerOf(t, server, clock).do("GET", "/users/operator/", "", nil)
	if status != 200 || !strings.Contains(body, `"is_superuser": true`) {
		t.Errorf("the new one: %d %s", status, body)
	}
}
