package maas

import "context"

// Domain is a DNS domain known to MAAS.
type Domain struct {
	ID            int    `json:"id"`
	Name          string `json:"name"`
	Authoritative bool   `json:"authoritative"` // false: MAAS stores records but does not answer for them
	IsDefault     bool   `json:"is_default"`
	TTL           *int   `json:"ttl"` // seconds; nil means MAAS's default (30 unless configured)
}

// Domains lists all DNS domains.
func (c *Client) Domains(ctx context.Context) ([]Domain, error) {
	return list[Domain](ctx, c, read("list_domains", "domains/"))
}
