package v1beta1

import (
	"bytes"
	"encoding/json"
	"sort"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// FailureDomains is a list of failure domains. It also decodes the map that contract v1beta1 had, in which an earlier provider
// stored them.
// +listType=map
// +listMapKey=name
// +kubebuilder:validation:MaxItems=100
type FailureDomains []clusterv1.FailureDomain

// UnmarshalJSON decodes a list, or a map from name to failure domain.
func (d *FailureDomains) UnmarshalJSON(data []byte) error {
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' {
		var list []clusterv1.FailureDomain
		if err := json.Unmarshal(data, &list); err != nil {
			return err
		}
		*d = list
		return nil
	}
	var byName map[string]clusterv1.FailureDomain
	if err := json.Unmarshal(data, &byName); err != nil {
		return err
	}
	list := make([]clusterv1.FailureDomain, 0, len(byName))
	for name, domain := range byName {
		domain.Name = name
		list = append(list, domain)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	*d = list
	return nil
}
