package imagefile

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// find returns what MAAS has under the name and architecture of the image; nil for nothing.
func (j *job) find(ctx context.Context) (*maas.BootResource, error) {
	all, err := j.Client.UploadedBootResources(ctx)
	if err != nil {
		return nil, fmt.Errorf("look whether MAAS has the image %s: %w", j.manifest.Name, err)
	}
	for _, b := range all {
		if b.Name == bare(j.manifest.Name) && b.Architecture == j.manifest.Architecture {
			found, err := j.Client.BootResource(ctx, b.ID)
			switch {
			case errors.Is(err, maas.ErrNotFound): // somebody just deleted it
				return nil, nil
			case err != nil:
				return nil, fmt.Errorf("look at the image %s in MAAS (boot resource %d): %w", j.manifest.Name, b.ID, err)
			}
			return found, nil
		}
	}
	return nil, nil
}

// isThere says whether nothing has to be sent. The title is not compared: to change it, MAAS would want all of the content again.
func (j *job) isThere(found maas.BootResource) bool {
	content, _ := found.Content()
	return j.isOurs(found) && content.Complete && content.FileType == inMAAS[j.manifest.FileType] && !j.hasOtherBase(found)
}

// isOurs says whether what a boot resource has, or is to get, is the image.
func (j *job) isOurs(resource maas.BootResource) bool {
	content, ok := resource.Content()
	return ok && strings.EqualFold(content.SHA256, j.manifest.SHA256) && content.Size == j.manifest.Size
}

// isInTheWay says whether what is there has to be deleted first. Anything else is better left until MAAS has accepted what replaces it.
//
// It is an unfinished upload of the same content: MAAS 3.3 and 3.4 go on with the part that arrived, and newer ones may append to it on disk,
// while neither tells reliably how much it is.
func (j *job) isInTheWay(found maas.BootResource) bool {
	content, _ := found.Content()
	return j.isOurs(found) && !content.Complete
}

// hasOtherBase says whether the base image is known to be another one. MAAS before 3.5 does not tell.
func (j *job) hasOtherBase(found maas.BootResource) bool {
	return j.manifest.BaseImage != "" && found.BaseImage != "" && !strings.EqualFold(found.BaseImage, j.manifest.BaseImage)
}

// hasContent says whether there is something that could be deployed: a version that is complete, also an older one.
func hasContent(found maas.BootResource) bool {
	for _, set := range found.Sets {
		if set.Complete {
			return true
		}
	}
	return false
}
