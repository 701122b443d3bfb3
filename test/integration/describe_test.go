package integration

import (
	"sigs.k8s.io/yaml"
)

// describing prints a value when a test fails, as it is then.
type describing func() any

func (d describing) String() string {
	text, err := yaml.Marshal(d())
	if err != nil {
		return err.Error()
	}
	return "it is now:\n" + string(text)
}
