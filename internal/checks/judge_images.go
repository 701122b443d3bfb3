package checks

import (
	"fmt"
	"slices"
	"strings"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// judgeImages says whether MAAS has the images, for the architectures that they are asked for. Those whose IDs are in partly are not complete.
func judgeImages(host string, wishes []ImageWish, resources []maas.BootResource, partly map[int]bool) Finding {
	whole, all := map[string][]string{}, map[string][]string{}
	for _, resource := range resources {
		name, architecture := fullName(resource), family(resource.Architecture)
		all[name] = append(all[name], architecture)
		if !partly[resource.ID] {
			whole[name] = append(whole[name], architecture)
		}
	}
	var missing, incomplete []string
	seen := map[[2]string]bool{}
	for _, wish := range wishes {
		name, wanted := infrav1.FullImageName(wish.Name), family(wish.Architecture)
		if seen[[2]string{name, wanted}] || isAlias(name) || isAmong(whole[name], wanted) {
			continue
		}
		seen[[2]string{name, wanted}] = true
		if isAmong(all[name], wanted) {
			incomplete = append(incomplete, incompleteImage(host, name, wanted, wish))
		} else {
			missing = append(missing, missingImage(host, name, wanted, wish, all))
		}
	}
	if len(missing) == 0 && len(incomplete) > 0 {
		return Finding{Wrong, infrav1.ImageIncompleteReason, several(incomplete)}
	}
	return missingOr(slices.Concat(missing, incomplete), infrav1.ImageNotFoundReason, infrav1.ImagesFoundReason)
}

// fullName is the name by which an image is asked for.
func fullName(resource maas.BootResource) string {
	if resource.IsCustom() {
		return infrav1.CustomImagePrefix + resource.Name
	}
	return resource.Name
}

// isAmong says whether one of the architectures is wanted; "" is any.
func isAmong(architectures []string, wanted string) bool {
	return len(architectures) > 0 && (wanted == "" || slices.Contains(architectures, wanted))
}

// incompleteImage says of which image MAAS has a part, who asks for it, and what to do.
func incompleteImage(host, name, wanted string, wish ImageWish) string {
	forWhich := ""
	if wanted != "" {
		forWhich = " for " + wanted
	}
	get := "look at it in MAAS if its import does not end"
	if strings.HasPrefix(name, infrav1.CustomImagePrefix) {
		get = "upload it again if nobody uploads it any more"
	}
	return fmt.Sprintf("MAAS %s has image %s%s in part only, which %s asks for: wait until it is complete, or %s", host, name, forWhich, wish.By, get)
}

// missingImage says what is missing, for whom, and what to do.
func missingImage(host, name, wanted string, wish ImageWish, architectures map[string][]string) string {
	forWhich := ""
	if wanted != "" {
		forWhich = " for " + wanted
	}
	if has := architectures[name]; len(has) > 0 {
		has = slices.Clone(has)
		slices.Sort(has)
		forWhich += " (only for " + strings.Join(slices.Compact(has), ", ") + ")"
	}
	get := "import it in MAAS"
	if strings.HasPrefix(name, infrav1.CustomImagePrefix) {
		get = "upload it"
	}
	asks, other := wish.By+" asks for", "another one"
	if bare, own := strings.CutPrefix(name, infrav1.CustomImagePrefix); own && len(architectures["ubuntu/"+bare]) > 0 {
		// MAAS takes "jammy" for an image of its own, we do not.
		other = "ubuntu/" + bare
		if wish.Name == bare {
			asks = fmt.Sprintf("%q in %s means", bare, wish.By)
		}
	}
	return fmt.Sprintf("MAAS %s has no image %s%s, which %s: %s, or name %s %s", host, name, forWhich, asks, get, other, wish.In)
}

// isAlias says that a name is a version number, which MAAS 3.6 and newer resolve to an image of their choice.
func isAlias(name string) bool {
	_, series, _ := strings.Cut(name, "/")
	return !strings.HasPrefix(name, infrav1.CustomImagePrefix) && series != "" && series[0] >= '0' && series[0] <= '9'
}

// family is an architecture without its kernel: boot resources are for amd64/ga-22.04 or amd64/generic.
func family(architecture string) string {
	name, _, _ := strings.Cut(architecture, "/")
	return name
}
