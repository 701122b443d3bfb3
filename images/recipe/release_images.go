package recipe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// refName is the annotation by which an image is found in a layout, as the OCI specification has it.
const refName = "org.opencontainers.image.ref.name"

// releasedImages pulls the container images that kubeadm names. Those of the sandbox's manifests are not among them: nobody releases them.
func (r *Recipe) releasedImages() build.Step {
	return build.Step{
		Name:    r.name(containersStep),
		Title:   "container images of Kubernetes " + r.version + ", as released",
		Lane:    build.Compiling,
		Needs:   []string{r.name(KubernetesStep)},
		Files:   []string{r.code()},
		Facts:   []string{r.release.Registry},
		Keep:    build.NotTest,
		Outputs: r.imageArchive(),
		Run: func(ctx context.Context, s *build.Session) error {
			names, err := r.kubeadmImages(ctx, s)
			if err != nil {
				return err
			}
			cache, err := openLayout(r.releaseCache("images"))
			if err != nil {
				return err
			}
			pull := func(image string) (v1.Image, error) {
				s.Progress("%s", programOf(image))
				return r.pull(ctx, cache, image)
			}
			return r.writeImages(names, pull)
		},
	}
}

// openLayout opens a folder of container images, or makes an empty one.
func openLayout(dir string) (layout.Path, error) {
	cache, err := layout.FromPath(dir)
	if errors.Is(err, os.ErrNotExist) {
		return layout.Write(dir, empty.Index)
	}
	return cache, err
}

// pull returns an image from the cache, where it is first brought if it is not there. It is used only if all of it has the digests by
// which it is called.
func (r *Recipe) pull(ctx context.Context, cache layout.Path, image string) (v1.Image, error) {
	platform := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	kept, err := findImage(cache, image, platform)
	if err != nil {
		return nil, err
	}
	if kept == nil {
		if err := r.fetchImage(ctx, cache, image, platform); err != nil {
			return nil, err
		}
		if kept, err = findImage(cache, image, platform); err != nil {
			return nil, err
		}
	}
	if err := validate.Image(kept); err != nil {
		return nil, fmt.Errorf("the container image %s is damaged: remove the folder %s, and run this again: %w", image, r.releaseCache("images"), err)
	}
	return kept, nil
}

// findImage is nil if the cache does not have it.
func findImage(cache layout.Path, image string, platform v1.Platform) (v1.Image, error) {
	index, err := cache.ImageIndex()
	if err != nil {
		return nil, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(manifest.Manifests, func(d v1.Descriptor) bool {
		return d.Annotations[refName] == image && d.Platform != nil && d.Platform.Equals(platform)
	})
	if i < 0 {
		return nil, nil
	}
	return index.Image(manifest.Manifests[i].Digest)
}

func (r *Recipe) fetchImage(ctx context.Context, cache layout.Path, image string, platform v1.Platform) error {
	tag, err := name.NewTag(image)
	if err != nil {
		return fmt.Errorf("reading the image name %q: %w", image, err)
	}
	from := tag
	if r.release.Registry != "" {
		from, err = name.NewTag(r.release.Registry + "/" + tag.RepositoryStr() + ":" + tag.TagStr())
		if err != nil {
			return fmt.Errorf("reading the name of the registry %q: %w", r.release.Registry, err)
		}
	}
	pulled, err := remote.Image(from, remote.WithContext(ctx), remote.WithPlatform(platform),
		remote.WithTransport(impatient{remote.DefaultTransport, longestSilence}))
	if err == nil {
		err = cache.AppendImage(pulled, layout.WithAnnotations(map[string]string{refName: image}), layout.WithPlatform(platform))
	}
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return explainPull(from, err)
}

// explainPull says what a person can do about an image that did not come.
func explainPull(from name.Tag, err error) error {
	err = fmt.Errorf("pulling %s: %w", from, err)
	if _, ok := errors.AsType[*transport.Error](err); ok {
		return err
	}
	if _, ok := errors.AsType[net.Error](err); ok || errors.Is(err, errSilence) {
		return fmt.Errorf("%w\n%s", err, withoutInternet(from.RegistryStr()))
	}
	return err
}
