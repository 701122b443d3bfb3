package checks

import (
	"fmt"
	"slices"
	"strings"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

// judgeImages says whether MAAS has the images, for the architectures that they are asked for.
func judgeImages(host string, wishes []ImageWish, resources []maas.BootResource) Finding {
	architectures := map[string][]string{}
	for _, resource := range resources {
		name := resource.Name
		if resource.IsCustom() {
			name = infrav1.CustomImagePrefix + name
		}
		architectures[name] = append(architectures[name], family(resource.Architecture))
	}
	var missing []string
	seen := map[[2]string]bool{}
	for _, wish := range wishes {
		name, wanted := infrav1.FullImageName(wish.Name), family(wish.Architecture)
		has := architectures[name]
		if seen[[2]string{name, wanted}] || isAlias(name) || len(has) > 0 && (wanted == "" || slices.Contains(has, wanted)) {
			continue
		}
		seen[[2]string{name, wanted}] = true
		missing = append(missing, missingImage(host, name, wanted, wish, architectures))
	}
	return missingOr(missing, infrav1.ImageNotFoundReason, infrav1.ImagesFoundReason)
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
