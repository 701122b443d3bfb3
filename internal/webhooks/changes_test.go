package webhooks

import (
	"reflect"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// A field that somebody adds to the type must not be forgotten here.
func TestEveryFieldOfAMachinesSpecIsCompared(t *testing.T) {
	t.Parallel()
	for i := range reflect.TypeFor[infrav1.MaasMachineSpec]().NumField() {
		var before, now infrav1.MaasMachineSpec
		value := reflect.ValueOf(&now).Elem().Field(i)
		name, _, _ := strings.Cut(reflect.TypeOf(now).Field(i).Tag.Get("json"), ",")
		fill(t, value)
		want := []change{{field: name, added: true}}
		if got := changesOf(before, now); !reflect.DeepEqual(got, want) {
			t.Errorf("setting %s: changes %+v, want %+v", name, got, want)
		}
		want = []change{{field: name, removed: true}}
		if got := changesOf(now, before); !reflect.DeepEqual(got, want) {
			t.Errorf("emptying %s: changes %+v, want %+v", name, got, want)
		}
	}
}

func fill(t *testing.T, value reflect.Value) {
	t.Helper()
	switch value.Kind() {
	case reflect.String:
		value.SetString("x")
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int32:
		value.SetInt(1)
	case reflect.Slice:
		value.Set(reflect.ValueOf([]string{"x"}))
	case reflect.Struct:
		fill(t, value.Field(0))
	case reflect.Pointer:
		if value.Type() == reflect.TypeFor[*metav1.Duration]() {
			value.Set(reflect.ValueOf(&metav1.Duration{Duration: time.Hour}))
			return
		}
		value.Set(reflect.ValueOf(&apiextensionsv1.JSON{Raw: []byte(`{"a":1}`)}))
	default:
		t.Fatalf("teach this test, and changesOf, about %s", value.Type())
	}
}
