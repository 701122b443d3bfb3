package webhooks

import (
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// wellFormedRelease checks how a machine is to be given back. Which release scripts there are, only MAAS knows.
func wellFormedRelease(release infrav1.ReleasePolicy, path *field.Path) field.ErrorList {
	var found field.ErrorList
	switch release.Erase {
	case "", infrav1.EraseNone, infrav1.EraseQuick, infrav1.EraseSecure, infrav1.EraseFull:
	default:
		found = append(found, field.NotSupported(path.Child("erase"), release.Erase,
			[]infrav1.Erase{infrav1.EraseNone, infrav1.EraseQuick, infrav1.EraseSecure, infrav1.EraseFull}))
	}
	for i, script := range release.Scripts {
		switch {
		case script == "" || strings.ContainsFunc(script, notInScript):
			found = append(found, field.Invalid(path.Child("scripts").Index(i), script,
				"must be the name or a tag of one release script, without spaces or commas; list each script by itself"))
		case slices.Contains(release.Scripts[:i], script):
			found = append(found, field.Duplicate(path.Child("scripts").Index(i), script))
		}
	}
	return found
}

// notInScript: MAAS separates scripts by commas.
func notInScript(r rune) bool { return r == ',' || unicode.IsSpace(r) || unicode.IsControl(r) }
