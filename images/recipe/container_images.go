package recipe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// containerImages packs the programs into container images with the names that kubeadm asks for, plus those of the manifests in
// images/workload.
func (r *Recipe) containerImages() build.Step {
	return build.Step{
		Name:    r.name(containersStep),
		Title:   "container images of Kubernetes " + r.version,
		Lane:    build.Assembling,
		Needs:   []string{r.name(KubernetesStep), baseStep, pauseStep},
		Files:   append(r.workload(), r.code()),
		Keep:    build.NotTest,
		Outputs: r.imageArchive(),
		Run: func(ctx context.Context, s *build.Session) error {
			names, err := r.allImages(ctx, s)
			if err != nil {
				return err
			}
			layers, err := r.newLayers()
			if err != nil {
				return err
			}
			return r.writeImages(names, layers.newImage)
		},
	}
}

// imageArchive is the file of all container images, and the list of their names.
func (r *Recipe) imageArchive() []string {
	return []string{r.parts("container-images.tar"), r.parts("container-images.txt")}
}

// writeImages makes both.
func (r *Recipe) writeImages(names []string, newImage func(string) (v1.Image, error)) error {
	if err := os.MkdirAll(r.parts(), 0o755); err != nil {
		return err
	}
	if err := writeArchive(r.parts("container-images.tar"), names, newImage); err != nil {
		return err
	}
	return build.ReplaceFile(r.parts("container-images.txt"), []byte(strings.Join(names, "\n")+"\n"), 0o644)
}

// allImages are the names of all images, those that kubeadm wants first.
func (r *Recipe) allImages(ctx context.Context, s *build.Session) ([]string, error) {
	names, err := r.kubeadmImages(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, file := range r.workload() {
		manifest, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("finding which images we need: %w", err)
		}
		own := imagesIn(manifest)
		if len(own) == 0 {
			return nil, fmt.Errorf("%s names no image", file)
		}
		names = append(names, own...)
	}
	return names, nil
}

// workload are the manifests whose images are in the machine image too, because the sandbox has no registry.
func (r *Recipe) workload() []string {
	return []string{r.Source("images", "workload", "cni.yaml"), r.Source("images", "workload", "hello.yaml")}
}

// kubeadmImages asks kubeadm, which alone knows what its clusters run.
func (r *Recipe) kubeadmImages(ctx context.Context, s *build.Session) ([]string, error) {
	out, err := s.Output(ctx, build.Command{Argv: []string{r.programs("kubeadm"), "config", "images", "list", "--kubernetes-version", r.version}})
	if err != nil {
		return nil, err
	}
	names := strings.Fields(out)
	if len(names) == 0 {
		return nil, errors.New("kubeadm named no images")
	}
	return names, nil
}

// imageOf finds the image of a program among names.
func imageOf(names []string, program string) (string, error) {
	for _, image := range names {
		if programOf(image) == program {
			return image, nil
		}
	}
	return "", fmt.Errorf("kubeadm names no image of %s", program)
}

// programOf is the last part of an image's name, without its tag.
func programOf(image string) string {
	program, _, _ := strings.Cut(path.Base(image), ":")
	return program
}

// imagesIn finds the names of images in a manifest.
func imagesIn(manifest []byte) []string {
	var names []string
	for _, match := range regexp.MustCompile(`(?m)^\s*(?:-\s+)?image:\s*(\S+)\s*$`).FindAllSubmatch(manifest, -1) {
		if image := string(match[1]); !slices.Contains(names, image) {
			names = append(names, image)
		}
	}
	return names
}

// layers are shared by all images, so that a machine stores each program once.
type layers struct {
	kubernetes, netfilter, coredns, pause v1.Layer
}

func (r *Recipe) newLayers() (layers, error) {
	var l layers
	kube := []layerFile{{path: "usr/local/bin/kube", source: r.programs("kube")}, {path: "tmp", mode: 0o1777}}
	for _, program := range kubernetesPrograms() {
		kube = append(kube, layerFile{path: "usr/local/bin/" + program, link: "kube"})
	}
	netfilter, err := netfilterFiles(r.baseRoot())
	if err != nil {
		return l, err
	}
	for _, part := range []struct {
		layer *v1.Layer
		files []layerFile
	}{
		{&l.kubernetes, kube},
		{&l.netfilter, netfilter},
		{&l.coredns, []layerFile{{path: "coredns", source: r.programs("coredns")}}},
		{&l.pause, []layerFile{{path: "pause", source: r.node("pause")}}},
	} {
		if *part.layer, err = newLayer(part.files); err != nil {
			return l, err
		}
	}
	return l, nil
}

// newImage makes the image of that name.
func (l layers) newImage(image string) (v1.Image, error) {
	switch program := programOf(image); program {
	case "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler":
		return assemble("/usr/local/bin/"+program, "", l.kubernetes)
	case "kube-proxy", "pod-routes":
		return assemble("/usr/local/bin/"+program, "", l.kubernetes, l.netfilter)
	case "hello":
		return assemble("/usr/local/bin/"+program, "65535:65535", l.kubernetes)
	case "coredns":
		return assemble("/coredns", "", l.coredns)
	case "pause":
		return assemble("/pause", "65535:65535", l.pause)
	default:
		return nil, fmt.Errorf("image %s: nothing here makes it", image)
	}
}

func assemble(entrypoint, user string, parts ...v1.Layer) (v1.Image, error) {
	image, err := mutate.AppendLayers(empty.Image, parts...)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Created = v1.Time{Time: time.Unix(0, 0).UTC()}
	config.Config = v1.Config{
		Entrypoint: []string{entrypoint},
		User:       user,
		Env:        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
	}
	return mutate.ConfigFile(image, config)
}

// writeArchive writes all images into one file that container runtimes import.
func writeArchive(file string, names []string, newImage func(string) (v1.Image, error)) error {
	images := make(map[name.Reference]v1.Image, len(names))
	for _, image := range names {
		tag, err := name.NewTag(image)
		if err != nil {
			return fmt.Errorf("reading the image name %q: %w", image, err)
		}
		if images[tag], err = newImage(image); err != nil {
			return err
		}
	}
	temporary := file + ".new"
	if err := tarball.MultiRefWriteToFile(temporary, images); err != nil {
		_ = os.Remove(temporary)
		return fmt.Errorf("writing the image archive: %w", err)
	}
	return os.Rename(temporary, file)
}
