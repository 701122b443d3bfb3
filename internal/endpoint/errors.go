package endpoint

import (
	"errors"
	"fmt"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// NotOursError says that a record of the name exists without our mark. It was not touched.
type NotOursError struct{ FQDN string }

// Error returns one line.
func (e *NotOursError) Error() string {
	return fmt.Sprintf("the DNS record %s does not carry the mark of this cluster", e.FQDN)
}

// DomainNotFoundError says that MAAS has no such domain.
type DomainNotFoundError struct{ Domain string }

// Error returns one line.
func (e *DomainNotFoundError) Error() string {
	return fmt.Sprintf("there is no DNS domain %q", e.Domain)
}

// DomainNotAuthoritativeError says that MAAS knows the domain but does not serve it, so that nobody could resolve a record.
type DomainNotAuthoritativeError struct{ Domain string }

// Error returns one line.
func (e *DomainNotAuthoritativeError) Error() string {
	return fmt.Sprintf("the DNS domain %q is not authoritative", e.Domain)
}

// What is done with a record, for errors.
const (
	reading  = "read"
	making   = "make"
	writing  = "write"
	deleting = "delete"
)

// RecordError says what could not be done with a record, and why.
type RecordError struct {
	FQDN  string
	Doing string // make, read, write or delete
	Err   error
}

// Error returns one line.
func (e *RecordError) Error() string {
	return e.Doing + " the DNS record " + e.FQDN + ": " + e.Err.Error()
}

// Unwrap returns the cause, which is mostly one of package maas.
func (e *RecordError) Unwrap() error { return e.Err }

// Explain says in one line for people why a call of a [Publisher] failed, and what to do. Host is that of MAAS.
func Explain(host string, err error) string {
	var notOurs *NotOursError
	var noDomain *DomainNotFoundError
	var notServed *DomainNotAuthoritativeError
	var failed *RecordError
	switch {
	case errors.As(err, &notOurs):
		return fmt.Sprintf("MAAS %s already has a DNS record %s that is not this cluster's: delete it in MAAS if nobody needs it, or make the cluster anew, which gets another name",
			host, notOurs.FQDN)
	case errors.As(err, &noDomain):
		return fmt.Sprintf("MAAS %s has no DNS domain %q, in which the DNS record of the control plane has to be: make that domain in MAAS", host, noDomain.Domain)
	case errors.As(err, &notServed):
		return fmt.Sprintf("MAAS %s is not authoritative for the DNS domain %q, so nobody can resolve the DNS record of the control plane: make it authoritative in MAAS, unless another DNS server serves this domain; then use another dnsDomain",
			host, notServed.Domain)
	case errors.As(err, &failed):
		return failed.explain(host)
	}
	return fmt.Sprintf("MAAS %s cannot be asked for DNS records (%s): look whether MAAS runs; it is tried again", host, maas.Words(err))
}

func (e *RecordError) explain(host string) string {
	words := maas.Words(e.Err)
	switch {
	case maas.KindOf(e.Err) == "":
		return fmt.Sprintf("MAAS %s was asked to %s the DNS record %s, and %s: look at the domain in MAAS; it is tried again", host, e.Doing, e.FQDN, words)
	case errors.Is(e.Err, maas.ErrForbidden) && e.Doing != reading:
		// MAAS 3.4 to 3.7: DNS is for administrators, whatever else a user may do.
		return fmt.Sprintf("MAAS %s does not let the API key's user %s the DNS record %s: make that user an administrator in MAAS",
			host, e.Doing, e.FQDN)
	case errors.Is(e.Err, maas.ErrForbidden):
		return fmt.Sprintf("MAAS %s does not let the API key's user read the DNS record %s (%s): look at that user in MAAS", host, e.FQDN, words)
	case errors.Is(e.Err, maas.ErrInvalid), errors.Is(e.Err, maas.ErrConflict), errors.Is(e.Err, maas.ErrNotFound):
		return fmt.Sprintf("MAAS %s refuses to %s the DNS record %s (%s): look at the record in MAAS; it is tried again", host, e.Doing, e.FQDN, words)
	case errors.Is(e.Err, maas.ErrOutcomeUnknown):
		return fmt.Sprintf("MAAS %s gave no usable answer when asked to %s the DNS record %s (%s): look into MAAS's own log; it is tried again", host, e.Doing, e.FQDN, words)
	}
	return fmt.Sprintf("MAAS %s cannot be asked to %s the DNS record %s (%s): look whether MAAS runs; it is tried again", host, e.Doing, e.FQDN, words)
}
