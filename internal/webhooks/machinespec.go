package webhooks

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// wellFormed checks all that stands in a machine's spec, of a MaasMachine or a template, except for what MAAS has to be asked.
func wellFormed(spec infrav1.MaasMachineSpec, path *field.Path) field.ErrorList {
	var found field.ErrorList
	if spec.Image == "" {
		found = append(found, field.Required(path.Child("image"), "must be the name of an image in MAAS, such as custom/<name> or ubuntu/noble"))
	}
	for _, text := range []struct {
		field, value string
		fault        func(string) string
	}{
		{"image", spec.Image, imageFault},
		{"failureDomain", spec.FailureDomain, placeFault},
		{"resourcePool", spec.ResourcePool, placeFault},
		{"architecture", spec.Architecture, architectureFault},
		{"storage", spec.Storage, storageFault},
		{"interfaces", spec.Interfaces, interfacesFault},
	} {
		if text.value == "" {
			continue
		}
		fault := text.fault(text.value)
		if fault == "" && !isPrintable(text.value) {
			fault = unprintable
		}
		if fault != "" {
			found = append(found, field.Invalid(path.Child(text.field), text.value, fault))
		}
	}
	for _, number := range []struct {
		field string
		value int32
	}{{"minCPU", spec.MinCPU}, {"minMemory", spec.MinMemory}, {"minDiskSize", spec.MinDiskSize}} {
		if number.value < 0 {
			found = append(found, field.Invalid(path.Child(number.field), number.value, "must be 0 or more"))
		}
	}
	found = append(found, wellFormedAttempts(spec, path)...)
	found = append(found, wellFormedTags(spec, path)...)
	found = append(found, wellFormedRelease(spec.Release, path.Child("release"))...)
	for i, subnet := range spec.Subnets {
		if fault := nameFault(subnet); fault != "" || subnet == "" {
			found = append(found, field.Invalid(path.Child("subnets").Index(i), subnet, "must be a subnet as MAAS specifies it, without spaces around it"))
		}
	}
	for _, text := range []struct{ field, value string }{{"subnet", spec.AddressFrom.Subnet}, {"interface", spec.AddressFrom.Interface}} {
		if fault := nameFault(text.value); fault != "" {
			found = append(found, field.Invalid(path.Child("addressFrom", text.field), text.value, fault))
		}
	}
	return found
}

// shortestDeployTimeout is less than any machine takes to start.
const shortestDeployTimeout = time.Minute

// maxDeployAttempts is that of the schema.
const maxDeployAttempts = 10

// wellFormedAttempts checks how long and how often a deployment is tried. What is absent has a default.
func wellFormedAttempts(spec infrav1.MaasMachineSpec, path *field.Path) field.ErrorList {
	var found field.ErrorList
	if t := spec.DeployTimeout; t != nil && t.Duration < shortestDeployTimeout {
		found = append(found, field.Invalid(path.Child("deployTimeout"), t.Duration.String(), "must be a minute or more, such as 45m: it counts until the image runs"))
	}
	if n := spec.DeployAttempts; n < 0 || n > maxDeployAttempts {
		found = append(found, field.Invalid(path.Child("deployAttempts"), n, fmt.Sprintf("must be from 1 to %d", maxDeployAttempts)))
	}
	return found
}

func wellFormedTags(spec infrav1.MaasMachineSpec, path *field.Path) field.ErrorList {
	var found field.ErrorList
	for _, list := range []struct {
		field string
		tags  []string
	}{{"tags", spec.Tags}, {"notTags", spec.NotTags}} {
		for i, tag := range list.tags {
			if fault := tagFault(tag); fault != "" {
				found = append(found, field.Invalid(path.Child(list.field).Index(i), tag, fault))
			}
		}
	}
	for i, tag := range spec.NotTags {
		if slices.Contains(spec.Tags, tag) {
			found = append(found, field.Invalid(path.Child("notTags").Index(i), tag, "is in tags too, so that no machine can fit: remove it from one of the two"))
		}
	}
	return found
}

// withoutLXD refuses the fields with which an earlier provider made virtual machines.
func withoutLXD(spec infrav1.MaasMachineSpec, path *field.Path) field.ErrorList {
	var found field.ErrorList
	if spec.LXD != nil {
		found = append(found, field.Forbidden(path.Child("lxd"), noLXD))
	}
	if spec.Parent != "" {
		found = append(found, field.Forbidden(path.Child("parent"), noLXD))
	}
	return found
}

const noLXD = "LXD virtual machines are not made by this provider: remove the field; machines are taken from those that MAAS has"

// kept checks that what an update changes may change. Fields in free may; what earlier providers left may be removed.
func kept(before, now infrav1.MaasMachineSpec, path *field.Path, because string, free ...string) field.ErrorList {
	var found field.ErrorList
	for _, c := range changesOf(before, now) {
		leftover := c.field == "lxd" || c.field == "parent"
		switch {
		case slices.Contains(free, c.field), leftover && c.removed:
		case leftover && c.added:
			found = append(found, field.Forbidden(path.Child(c.field), noLXD))
		default:
			found = append(found, field.Forbidden(path.Child(c.field), because))
		}
	}
	return found
}

// identity checks the names of the machine that a MaasMachine has: each well-formed, and both of one machine.
func identity(spec infrav1.MaasMachineSpec, path *field.Path) field.ErrorList {
	var found field.ErrorList
	if spec.SystemID != "" && !infrav1.IsSystemID(spec.SystemID) {
		found = append(found, field.Invalid(path.Child("systemID"), spec.SystemID, "must be a system ID of MAAS, such as 4y3h7n"))
	}
	if spec.ProviderID == "" {
		return found
	}
	id, ok := infrav1.SystemIDOf(spec.ProviderID)
	switch {
	case !ok || !isPrintable(spec.ProviderID):
		found = append(found, field.Invalid(path.Child("providerID"), spec.ProviderID, "must be maas:///<zone>/<system ID>"))
	case spec.SystemID != "" && spec.SystemID != id:
		found = append(found, field.Invalid(path.Child("providerID"), spec.ProviderID, "must end in the system ID that stands in "+
			path.Child("systemID").String()+", "+spec.SystemID))
	}
	return found
}

// isPrintable says that a text holds nothing that cannot be seen.
func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || r == unicode.ReplacementChar })
}
