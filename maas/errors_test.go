package maas

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
)

func TestWordsAreForPeople(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"none":                   {nil, ""},
		"MAAS's words":           {&Error{Kind: KindConflict, Operation: "deploy_machine", Message: "No more IPs available."}, "No more IPs available"},
		"wrapped":                {fmt.Errorf("write the record: %w", &Error{Kind: KindInvalid, Operation: "update_dns_resource", Message: "Bad."}), "Bad"},
		"no words":               {&Error{Kind: KindNotFound, Operation: "read_machine"}, "not found"},
		"a write without answer": {&Error{Kind: KindOutcomeUnknown, Operation: "deploy_machine", Message: "no answer in time"}, "no answer in time"},
		"a kind alone":           {fmt.Errorf("release: %w", ErrUnauthorized), "the API key was not accepted"},
		"of a context":           {fmt.Errorf("wait: %w", context.DeadlineExceeded), "no answer in time"},
		"of another package":     {errors.New("no lease"), "no lease"},
	} {
		if got := Words(test.err); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestWhatIsForbiddenWithoutAReason(t *testing.T) {
	t.Parallel()
	const right = "not permitted, no reason given: the user lacks the right"
	c, _ := answering(t, text(http.StatusForbidden, "text/plain; charset=utf-8", ""))
	_, deploying := c.Deploy(context.Background(), "4y3h7n", DeployParams{})
	_, claiming := c.Allocate(context.Background(), AllocateParams{})
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"a machine":     {deploying, right + ", or the machine is locked or another user's"},
		"any machine":   {claiming, right},
		"a DNS record":  {c.DeleteDNSResource(context.Background(), 7), right},
		"made by hand":  {&Error{Kind: KindForbidden, Operation: "release_machine"}, right + ", or the machine is locked or another user's"},
		"a kind, alone": {ErrForbidden, right},
	} {
		if got := Words(test.err); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestWhatMAASFailedWith(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status       int
		kind, answer string
		want         string
	}{
		"its own failure":        {http.StatusInternalServerError, "text/plain", "Power action failed: no route.", "Power action failed: no route"},
		"no address left":        {http.StatusServiceUnavailable, "text/plain; charset=utf-8", "No more IPs available in subnet: 10.0.0.0/29.", "No more IPs available in subnet: 10.0.0.0/29"},
		"in JSON":                {http.StatusInternalServerError, "application/json", `"no lease"`, "no lease"},
		"a page of a proxy":      {http.StatusServiceUnavailable, "text/html", "<h1>Service Unavailable</h1>", ""},
		"nothing":                {http.StatusInternalServerError, "text/plain", "", ""},
		"a proxy without a MAAS": {http.StatusBadGateway, "text/plain", "Bad Gateway", ""},
		"a proxy's impatience":   {http.StatusGatewayTimeout, "text/plain", "upstream request timeout", ""},
		"a refusal":              {http.StatusConflict, "text/plain", "Machine is locked.", ""},
	} {
		c, _ := answering(t, text(test.status, test.kind, test.answer))
		_, err := c.Deploy(context.Background(), "4y3h7n", DeployParams{})
		if got := FailedWith(fmt.Errorf("deploy: %w", err)); err == nil || got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	for _, err := range []error{nil, errors.New("no lease"), ErrOutcomeUnknown, &Error{Kind: KindOutcomeUnknown, Message: "no answer in time"}} {
		if got := FailedWith(err); got != "" {
			t.Errorf("%v: %q", err, got)
		}
	}
}
