package maasmachine

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

type (
	clusterObject = clusterv1.Cluster
	machineObject = clusterv1.Machine
)

func ptr[T any](v T) *T { return &v }
