package maas

import "context"

// ResourcePool is a named set of machines; a machine is in exactly one.
type ResourcePool struct {
	ID          int    `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// ResourcePools lists all resource pools.
func (c *Client) ResourcePools(ctx context.Context) ([]ResourcePool, error) {
	return list[ResourcePool](ctx, c, read("list_resource_pools", "resourcepools/"))
}
