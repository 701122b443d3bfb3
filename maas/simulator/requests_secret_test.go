package simulator

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestNoSecretIsKeptOfARequest(t *testing.T) {
	t.Parallel()
	for _, sent := range []string{
		"user_data=SECRET", "power_parameters_power_pass=SECRET", "power_parameters={\"power_pass\":\"SECRET\"}", "power_pass=SECRET", "password=SECRET",
		"key=SECRET", "certificate=SECRET", "token=SECRET", "token_key=SECRET", "token_secret=SECRET", "consumer_key=SECRET", "oauth_signature=SECRET",
		"power_address=qemu%2Bssh://root:SECRET@10.0.0.1/system", "name=http_proxy&value=http://user:SECRET@proxy:3128/",
		"name=vcenter_password&value=SECRET", "name=theme&name=vcenter_password&value=SECRET", "name=vcenter_password&name=theme&value=SECRET",
		"value=SECRET", "name=rpc_shared_secret&value=SECRET", "comment=see http://x/ and http://u:SECRET@y",
		"deploy=" + fmt.Sprint(map[string]any{"user_data": "SECRET"}),
	} {
		values, err := url.ParseQuery(sent)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(redact(values)); strings.Contains(got, "SECRET") {
			t.Errorf("of %s is kept %s", sent, got)
		}
	}
	for _, sent := range []string{"hostname=a", "name=theme&value=dark", "comment=mail a@b", "comment=see http://x/?a=b@c", "fqdn=a.b&ip_addresses=10.0.0.1"} {
		values, err := url.ParseQuery(sent)
		if err != nil {
			t.Fatal(err)
		}
		if got := redact(values).Encode(); got != values.Encode() {
			t.Errorf("of %s is kept %s", sent, got)
		}
	}
}
