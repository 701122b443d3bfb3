package build

import (
	"context"
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
)

// images packs the programs into container images with the names that kubeadm asks for, plus those of our own
// manifests.
func (p *project) images() step {
	archive := p.path("machine", "images.tar")
	return step{
		name:    imagesStep,
		title:   "container images",
		lane:    assembling,
		needs:   []string{kubernetesStep, baseStep, pauseStep},
		files:   append(p.manifestsWithImages(), p.recipes()),
		keep:    notTest,
		outputs: []string{archive, p.path("machine", "images.txt")},
		run: func(ctx context.Context, s *session) error {
			names, err := s.allImages(ctx)
			if err != nil {
				return err
			}
			layers, err := s.newLayers()
			if err != nil {
				return err
			}
			if err := writeArchive(archive, names, layers); err != nil {
				return err
			}
			return replaceFile(p.path("machine", "images.txt"), []byte(strings.Join(names, "\n")+"\n"), 0o644)
		},
	}
}

// allImages are the names of all images, those that kubeadm wants first.
func (s *session) allImages(ctx context.Context) ([]string, error) {
	names, err := s.kubeadmImages(ctx)
	if err != nil {
		return nil, err
	}
	for _, file := range s.manifestsWithImages() {
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

// manifestsWithImages are what the sandbox offers to run in a workload cluster.
func (p *project) manifestsWithImages() []string {
	return []string{p.image("cni.yaml"), p.image("hello.yaml")}
}

// kubeadmImages asks kubeadm, which alone knows what its clusters run.
func (s *session) kubeadmImages(ctx context.Context) ([]string, error) {
	out, err := s.output(ctx, command{argv: []string{s.bin("kubeadm"), "config", "images", "list", "--kubernetes-version", s.kubernetesVersion()}})
	if err != nil {
		return nil, err
	}
	names := strings.Fields(out)
	if len(names) == 0 {
		return nil, fmt.Errorf("kubeadm named no images")
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

func (s *session) newLayers() (layers, error) {
	var l layers
	kube := []layerFile{{path: "usr/local/bin/kube", source: s.bin("kube")}, {path: "tmp", mode: 0o1777}}
	for _, program := range kubernetesPrograms() {
		kube = append(kube, layerFile{path: "usr/local/bin/" + program, link: "kube"})
	}
	netfilter, err := netfilterFiles(s.path("machine", "base"))
	if err != nil {
		return l, err
	}
	for _, part := range []struct {
		layer *v1.Layer
		files []layerFile
	}{
		{&l.kubernetes, kube},
		{&l.netfilter, netfilter},
		{&l.coredns, []layerFile{{path: "coredns", source: s.bin("coredns")}}},
		{&l.pause, []layerFile{{path: "pause", source: s.node("pause")}}},
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
		return nil, fmt.Errorf("image %s: the sandbox has no program for it", image)
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
func writeArchive(file string, names []string, l layers) error {
	images := make(map[name.Reference]v1.Image, len(names))
	for _, image := range names {
		tag, err := name.NewTag(image)
		if err != nil {
			return fmt.Errorf("reading the image name %q: %w", image, err)
		}
		if images[tag], err = l.newImage(image); err != nil {
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
