package v1beta1

import "strings"

// CustomImagePrefix begins the names of images that somebody uploaded into MAAS under a name of their own.
const CustomImagePrefix = "custom/"

// FullImageName returns an image's name as MAAS is asked for it. A bare name in a spec is an image of the user's own; MAAS would take
// some, such as jammy, for an image of its own.
func FullImageName(image string) string {
	if strings.Contains(image, "/") {
		return image
	}
	return CustomImagePrefix + image
}
