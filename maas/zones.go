package maas

import "context"

// Zone is an availability zone; Cluster API calls it a failure domain.
type Zone struct {
	ID          int    `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Zones lists all zones.
func (c *Client) Zones(ctx context.Context) ([]Zone, error) {
	return list[Zone](ctx, c, read("list_zones", "zones/"))
}
