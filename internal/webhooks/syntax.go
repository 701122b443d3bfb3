package webhooks

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// What MAAS can read. Each function says what is wrong with a text, and how it has to look; "" means that nothing is wrong.

// imageFault: MAAS names an image <operating system>/<series>; a bare name is one of the user's own.
func imageFault(image string) string {
	parts := strings.Split(image, "/")
	if strings.ContainsFunc(image, unicode.IsSpace) || len(parts) > 2 || slices.Contains(parts, "") {
		return "must be the name of an image in MAAS, without spaces: custom/<name> or <name> for one of your own, else " +
			"<operating system>/<series> such as ubuntu/noble"
	}
	return ""
}

// tagFault: MAAS 3.4 to 3.7 take word characters and hyphens.
func tagFault(tag string) string {
	switch {
	case strings.ContainsAny(tag, ", "):
		return "must be one tag; list each tag by itself"
	case tag == "" || strings.ContainsFunc(tag, notInTag):
		return "cannot be a tag of MAAS: letters, digits, hyphens and underscores only"
	}
	return ""
}

func notInTag(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
}

// architectureFault: MAAS spells architectures as Debian does.
func architectureFault(architecture string) string {
	main, _, _ := strings.Cut(architecture, "/")
	switch main {
	case "x86_64", "x86-64":
		return "must be amd64: MAAS calls it so"
	case "aarch64":
		return "must be arm64: MAAS calls it so"
	case "ppc64le":
		return "must be ppc64el: MAAS calls it so"
	}
	if !regexp.MustCompile(`^[a-z0-9]+(/[A-Za-z0-9._-]+)?$`).MatchString(architecture) {
		return "must be an architecture as MAAS writes it, such as amd64 or amd64/generic"
	}
	return ""
}

// storageFault: MAAS 3.4 to 3.7 read [<label>:]<size in GB>[(<tag>,…)],…, a label being letters and digits.
func storageFault(storage string) string {
	const disk = `(?:[a-zA-Z0-9]+:)?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[(][^()\s]+[)])?`
	if !regexp.MustCompile(`^` + disk + `(?:,` + disk + `)*$`).MatchString(storage) {
		return `must be disks as MAAS writes them, <label>:<size in GB>(<tag>,…), with commas between them and no spaces, such as ` +
			`"root:100(ssd),data:500"`
	}
	return ""
}

// interfacesFault: MAAS 3.4 to 3.7 read <label>:<key>=<value>[,…][;…]. It silently ignores what is not of that form, and takes any
// machine then.
func interfacesFault(interfaces string) string {
	const form = `must be interfaces as MAAS writes them, <label>:<key>=<value>,…, with semicolons between them, such as ` +
		`"eth0:space=dmz;eth1:vid=20"`
	for part := range strings.SplitSeq(interfaces, ";") {
		label, pairs, found := strings.Cut(part, ":")
		if !found || strings.TrimSpace(label) == "" {
			return form
		}
		for pair := range strings.SplitSeq(pairs, ",") {
			key, value, found := strings.Cut(pair, "=")
			switch {
			case !found || key == "" || value == "":
				return form
			case !slices.Contains(interfaceKeys(), key):
				return "has " + strconv.Quote(key) + ", which MAAS does not know; it knows " + strings.Join(interfaceKeys(), ", ")
			}
		}
	}
	return ""
}

// interfaceKeys are what MAAS 3.4 to 3.7 know of an interface.
func interfaceKeys() []string {
	return []string{
		"fabric", "fabric_class", "hostname", "id", "ip", "link_speed", "mode", "name", "space", "subnet", "subnet_cidr", "tag", "type",
		"vid", "vlan", "not_fabric", "not_fabric_class", "not_hostname", "not_id", "not_ip", "not_name", "not_space", "not_subnet",
		"not_subnet_cidr", "not_tag", "not_vid", "not_vlan",
	}
}

// nameFault: nothing in MAAS has a name with spaces around it, or with what cannot be seen in it.
func nameFault(name string) string {
	switch {
	case name != strings.TrimSpace(name):
		return "must have no spaces around it"
	case !isPrintable(name):
		return unprintable
	}
	return ""
}

const unprintable = "must have no line breaks and no other characters that cannot be seen"

// placeFault: MAAS 3.3 to 3.7 name zones and pools with letters, digits, hyphens, underscores and, within, spaces.
func placeFault(name string) string {
	if fault := nameFault(name); fault != "" {
		return fault
	}
	if strings.ContainsFunc(name, func(r rune) bool { return notInTag(r) && r != ' ' }) {
		return "must be one name as MAAS has them, of letters, digits, spaces, hyphens and underscores"
	}
	return ""
}
