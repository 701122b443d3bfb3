package webhooks

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// change is what an update does to a field.
type change struct {
	field   string // its name in JSON
	added   bool   // it was empty before
	removed bool   // it is empty now
}

// changesOf lists the fields of a machine's spec that differ in meaning, in the order of the type. A field that the type gains
// later is among them.
func changesOf(before, now infrav1.MaasMachineSpec) []change {
	var out []change
	old, current := reflect.ValueOf(before), reflect.ValueOf(now)
	for i := range old.NumField() {
		if was, is := meaning(old.Field(i)), meaning(current.Field(i)); !equality.Semantic.DeepEqual(was, is) {
			name, _, _ := strings.Cut(old.Type().Field(i).Tag.Get("json"), ",")
			out = append(out, change{field: name, added: old.Field(i).IsZero(), removed: current.Field(i).IsZero()})
		}
	}
	return out
}

// meaning is a value in a form in which equal things compare equal: lists are sets in this API, and JSON has no order of keys.
func meaning(v reflect.Value) any {
	switch value := v.Interface().(type) {
	case []string:
		sorted := slices.Clone(value)
		slices.Sort(sorted)
		return sorted
	case *apiextensionsv1.JSON:
		return jsonMeaning(value)
	default:
		return value
	}
}

func jsonMeaning(value *apiextensionsv1.JSON) any {
	if value == nil {
		return nil
	}
	var decoded any
	if err := json.Unmarshal(value.Raw, &decoded); err != nil {
		return string(value.Raw)
	}
	return decoded
}

func sameJSON(a, b *apiextensionsv1.JSON) bool {
	return equality.Semantic.DeepEqual(jsonMeaning(a), jsonMeaning(b))
}
