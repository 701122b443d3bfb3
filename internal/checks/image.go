package checks

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// beforeClaim is how old it may be that an image is complete, for a machine that is about to be claimed: whoever uploads it again takes its
// content away at once.
const beforeClaim = time.Minute

// contents knows which images are complete, which the list does not tell. It asks for one image at a time.
type contents struct {
	mu    sync.Mutex
	facts map[int]*fact[*maas.BootResource]
}

// of is the fact of one boot resource. Those that are not listed any more are forgotten.
func (c *contents) of(id int, listed []maas.BootResource, client *maas.Client, now func() time.Time) *fact[*maas.BootResource] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.facts == nil {
		c.facts = map[int]*fact[*maas.BootResource]{}
	}
	if c.facts[id] == nil {
		for known := range c.facts {
			if !slices.ContainsFunc(listed, func(b maas.BootResource) bool { return b.ID == known }) {
				delete(c.facts, known)
			}
		}
		c.facts[id] = &fact[*maas.BootResource]{now: now, ask: func(ctx context.Context) (*maas.BootResource, error) {
			return client.BootResource(ctx, id)
		}}
	}
	return c.facts[id]
}

// Image says whether a machine can be deployed with an image, and for which architectures, such as amd64. There are none where that is not known,
// or where MAAS chooses the image.
func (c *Checks) Image(ctx context.Context, wish ImageWish) (found Finding, architectures []string) {
	found = settleAll(ctx, c.maas.Host(), &c.images, []ImageWish{wish}, func(host string, wishes []ImageWish, has []maas.BootResource) Finding {
		has, partly := c.inspect(ctx, wishes, has, beforeClaim)
		architectures = nil
		for _, resource := range has {
			if fullName(resource) == infrav1.FullImageName(wish.Name) && !partly[resource.ID] {
				architectures = append(architectures, family(resource.Architecture))
			}
		}
		slices.Sort(architectures)
		architectures = slices.Compact(architectures)
		return judgeImages(host, wishes, has, partly)
	})
	return found, architectures
}

// judgeContents is judgeImages for images that were looked into.
func (c *Checks) judgeContents(ctx context.Context) func(string, []ImageWish, []maas.BootResource) Finding {
	return func(host string, wishes []ImageWish, has []maas.BootResource) Finding {
		has, partly := c.inspect(ctx, wishes, has, interval)
		return judgeImages(host, wishes, has, partly)
	}
}

// inspect looks which of the images that are wished for are complete, and leaves out those that are gone since they were listed. MAAS keeps an
// image of its own once for each kernel: the first that is complete will do.
func (c *Checks) inspect(
	ctx context.Context, wishes []ImageWish, listed []maas.BootResource, maxAge time.Duration,
) (has []maas.BootResource, partly map[int]bool) {
	partly, gone, enough := map[int]bool{}, map[int]bool{}, map[[2]string]bool{}
	for _, resource := range listed {
		key := [2]string{fullName(resource), family(resource.Architecture)}
		if enough[key] || !slices.ContainsFunc(wishes, func(w ImageWish) bool { return infrav1.FullImageName(w.Name) == key[0] }) {
			continue
		}
		read, err := c.readContent(ctx, resource.ID, listed, maxAge)
		switch {
		case errors.Is(err, maas.ErrNotFound):
			gone[resource.ID] = true
		case err == nil && !hasContent(read):
			partly[resource.ID] = true
		default: // where MAAS does not say, nothing is concluded
			enough[key] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(listed), func(b maas.BootResource) bool { return gone[b.ID] }), partly
}

// readContent asks again before it says that an image is not complete.
func (c *Checks) readContent(ctx context.Context, id int, listed []maas.BootResource, maxAge time.Duration) (*maas.BootResource, error) {
	f := c.contents.of(id, listed, c.maas, c.images.now)
	read, err := f.get(ctx, maxAge)
	if err == nil && !hasContent(read) {
		return f.get(ctx, floor)
	}
	return read, err
}

// hasContent: MAAS 3.3 to 3.7 deploy the newest set that is complete.
func hasContent(resource *maas.BootResource) bool {
	for _, set := range resource.Sets {
		if set.Complete && len(set.Files) > 0 {
			return true
		}
	}
	return false
}
