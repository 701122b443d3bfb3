package endpoint_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/internal/endpoint"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

func TestFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	record := func(doing string, err error) error {
		return &endpoint.RecordError{FQDN: "prod.maas", Doing: doing, Err: err}
	}
	of := func(kind maas.Kind, words string) error {
		return &maas.Error{Kind: kind, Operation: "update_dns_resource", Message: words}
	}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"somebody else's record": {fmt.Errorf("join: %w", &endpoint.NotOursError{FQDN: "prod.maas"}),
			"MAAS h already has a DNS record prod.maas that is not this cluster's: delete it in MAAS if nobody needs it, or make the cluster anew, which gets another name"},
		"no domain": {&endpoint.DomainNotFoundError{Domain: "maas"},
			`MAAS h has no DNS domain "maas", in which the DNS record of the control plane has to be: make that domain in MAAS`},
		"a domain that is not served": {&endpoint.DomainNotAuthoritativeError{Domain: "maas"},
			`MAAS h is not authoritative for the DNS domain "maas", so nobody can resolve the DNS record of the control plane: make it authoritative in MAAS, unless another DNS server serves this domain; then use another dnsDomain`},
		"no administrator": {record("write", of(maas.KindForbidden, "This method is reserved for admin users.")),
			"MAAS h does not let the API key's user write the DNS record prod.maas: make that user an administrator in MAAS"},
		"a disabled user": {record("read", of(maas.KindForbidden, "User is not allowed access to this API.")),
			"MAAS h does not let the API key's user read the DNS record prod.maas (User is not allowed access to this API): look at that user in MAAS"},
		"not valid": {record("make", of(maas.KindInvalid, "name: Bad.")),
			"MAAS h refuses to make the DNS record prod.maas (name: Bad): look at the record in MAAS; it is tried again"},
		"no answer": {record("delete", of(maas.KindOutcomeUnknown, "no answer in time")),
			"MAAS h gave no usable answer when asked to delete the DNS record prod.maas (no answer in time): look into MAAS's own log; it is tried again"},
		"MAAS away": {record("read", of(maas.KindUnavailable, "cannot connect: connection refused")),
			"MAAS h cannot be asked to read the DNS record prod.maas (cannot connect: connection refused): look whether MAAS runs; it is tried again"},
		"not shown": {record("make", errors.New("MAAS does not show it")),
			"MAAS h was asked to make the DNS record prod.maas, and MAAS does not show it: look at the domain in MAAS; it is tried again"},
		"no turn": {context.DeadlineExceeded,
			"MAAS h cannot be asked for DNS records (no answer in time): look whether MAAS runs; it is tried again"},
	} {
		if got := endpoint.Explain("h", test.err); got != test.want {
			t.Errorf("%s:\n got  %s\n want %s", name, got, test.want)
		}
	}
}
