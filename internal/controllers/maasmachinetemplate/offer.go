package maasmachinetemplate

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/internal/placement"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// offer is what a machine has for pods. Zero fields are not known.
type offer struct {
	cores     int64
	memoryMiB int64
	diskBytes int64
	diskless  bool // the disk is not used: there is nothing to know of it
	// architecture is as Cluster API names it.
	architecture string
}

// askedFor returns what every machine of a template has, because it is asked for.
func askedFor(spec infrav1.MaasMachineSpec) offer {
	o := offer{
		cores: int64(spec.MinCPU), memoryMiB: int64(spec.MinMemory), diskBytes: int64(spec.MinDiskSize) * 1_000_000_000,
		diskless: spec.DeployInMemory, architecture: architectureOf(spec.Architecture),
	}
	if o.diskless {
		o.diskBytes = 0
	}
	return o
}

func (o offer) complete() bool {
	return o.cores > 0 && o.memoryMiB > 0 && (o.diskBytes > 0 || o.diskless) && o.architecture != ""
}

// or fills in what is not known.
func (o offer) or(other offer) offer {
	if o.cores == 0 {
		o.cores = other.cores
	}
	if o.memoryMiB == 0 {
		o.memoryMiB = other.memoryMiB
	}
	if o.diskBytes == 0 && !o.diskless {
		o.diskBytes = other.diskBytes
	}
	if o.architecture == "" {
		o.architecture = other.architecture
	}
	return o
}

// capacity is the offer as Kubernetes writes it.
func (o offer) capacity() corev1.ResourceList {
	list := corev1.ResourceList{}
	add := func(name corev1.ResourceName, value int64, format resource.Format) {
		if value > 0 {
			list[name] = *resource.NewQuantity(value, format)
		}
	}
	add(corev1.ResourceCPU, o.cores, resource.DecimalSI)
	add(corev1.ResourceMemory, o.memoryMiB<<20, resource.BinarySI)
	add(corev1.ResourceEphemeralStorage, o.diskBytes, resource.DecimalSI)
	if len(list) == 0 {
		return nil
	}
	return list
}

// smallest returns what each of several machines offers at least, whichever is claimed, and their architectures as MAAS names them. An
// architecture is promised only where all have the same.
func smallest(machines []maas.Machine) (offer, []string) {
	var least offer
	var names []string
	for i, m := range machines {
		cores, memory, disk := int64(m.CPUCount), int64(m.MemoryMiB), placement.BootDiskBytes(m)
		if i == 0 {
			least = offer{cores: cores, memoryMiB: memory, diskBytes: disk}
		}
		least.cores, least.memoryMiB, least.diskBytes = min(least.cores, cores), min(least.memoryMiB, memory), min(least.diskBytes, disk)
		if name, _, _ := strings.Cut(m.Architecture, "/"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) == 1 {
		least.architecture = architectureOf(names[0])
	}
	return least, names
}

// isKnown says whether MAAS knows what a machine has, and may give it to somebody one day. A New machine was only found; its commissioning
// tells what it has.
func isKnown(m maas.Machine) bool {
	return m.CPUCount > 0 && m.MemoryMiB > 0 && m.Status != maas.StatusNew && m.Status != maas.StatusRetired
}

// architectureOf returns Cluster API's name for an architecture of MAAS, such as amd64/generic; "" where it has none.
func architectureOf(name string) string {
	name, _, _ = strings.Cut(name, "/")
	switch name {
	case "amd64", "arm64", "s390x":
		return name
	case "ppc64el", "ppc64le":
		return "ppc64le"
	}
	return ""
}
