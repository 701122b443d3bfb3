package endpoint

import "fmt"

// NotOursError says that a record of the name exists without our mark. It was not touched.
type NotOursError struct{ FQDN string }

// Error returns one line.
func (e *NotOursError) Error() string {
	return fmt.Sprintf("MAAS holds a DNS record %s that does not carry the mark of this cluster; it is left alone", e.FQDN)
}

// DomainNotFoundError says that MAAS has no such domain.
type DomainNotFoundError struct{ Domain string }

// Error returns one line.
func (e *DomainNotFoundError) Error() string {
	return fmt.Sprintf("MAAS has no DNS domain %s", e.Domain)
}

// DomainNotAuthoritativeError says that MAAS knows the domain but does not serve it, so that nobody could resolve a record.
type DomainNotAuthoritativeError struct{ Domain string }

// Error returns one line.
func (e *DomainNotAuthoritativeError) Error() string {
	return fmt.Sprintf("MAAS is not authoritative for the DNS domain %s, so nobody could resolve a record in it", e.Domain)
}
