package controllers

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// FieldManager is the name under which the provider's writes stand in managed fields, in management and workload clusters.
const FieldManager = "capmaas-manager"

// UserAgent returns what API servers see of us. They take the field manager from its first part.
func UserAgent(version string) string {
	return fmt.Sprintf("%s/%s (%s/%s)", FieldManager, version, runtime.GOOS, runtime.GOARCH)
}

// NewScheme returns a scheme with all kinds that the provider reads or writes.
func NewScheme() (*k8sruntime.Scheme, error) {
	scheme := k8sruntime.NewScheme()
	for _, add := range []func(*k8sruntime.Scheme) error{
		clientgoscheme.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("make the scheme: %w", err)
		}
	}
	return scheme, nil
}

// ManagerOptions returns the options of a manager in whose cache the controllers find what they need and little else. A
// namespace limits what is cached, and so what is watched; "" does not.
func ManagerOptions(scheme *k8sruntime.Scheme, namespace string, syncPeriod time.Duration) (ctrl.Options, error) {
	ofClusters, err := labels.NewRequirement(clusterv1.ClusterNameLabel, selection.Exists, nil)
	if err != nil {
		return ctrl.Options{}, fmt.Errorf("select the secrets of clusters: %w", err)
	}
	options := ctrl.Options{
		Scheme: scheme,
		Cache: cache.Options{
			SyncPeriod:       &syncPeriod,
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				// Only the cluster cache reads secrets from the cache, and only kubeconfigs; see secretReader.
				&corev1.Secret{}: {Label: labels.NewSelector().Add(*ofClusters), Transform: keepKubeconfigs},
			},
		},
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}}},
	}
	if namespace != "" {
		options.Cache.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	return options, nil
}

// keepKubeconfigs drops the data of all other secrets: bootstrap data and private keys have no business in our memory.
func keepKubeconfigs(in any) (any, error) {
	if object, ok := in.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	if s, ok := in.(*corev1.Secret); ok && !strings.HasSuffix(s.Name, "-"+string(secret.Kubeconfig)) {
		s.Data = nil
	}
	return in, nil
}
