package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// newClusterCache starts Cluster API's cache of workload clusters, for our clusters alone.
func newClusterCache(ctx context.Context, mgr ctrl.Manager, options Options) (clustercache.ClusterCache, error) {
	reader, err := secretReader(mgr)
	if err != nil {
		return nil, err
	}
	clusters, err := clustercache.SetupWithManager(ctx, mgr, clustercache.Options{
		SecretClient:     reader,
		WatchFilterValue: options.WatchFilter,
		ClusterFilter:    isOurs,
		Cache: clustercache.CacheOptions{
			DefaultTransform: cache.TransformStripManagedFields(),
			Indexes:          []clustercache.CacheOptionsIndex{clustercache.NodeProviderIDIndex},
		},
		Client: clustercache.ClientOptions{
			UserAgent: UserAgent(options.Version),
			Cache:     clustercache.ClientCacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}},
		},
	}, controller.Options{MaxConcurrentReconciles: 10})
	if err != nil {
		return nil, err
	}
	return clusters, mgr.Add(stopWithManager{clusters})
}

// stopWithManager closes the connections to workload clusters when the manager stops, which the cache does not do by itself.
type stopWithManager struct{ clusters clustercache.ClusterCache }

// Start waits for the end.
func (s stopWithManager) Start(ctx context.Context) error {
	<-ctx.Done()
	if stoppable, ok := s.clusters.(interface{ Shutdown() }); ok {
		stoppable.Shutdown()
	}
	return nil
}

// isOurs keeps clusters of other providers out of our memory.
func isOurs(cluster *clusterv1.Cluster) bool {
	return cluster.Spec.InfrastructureRef.APIGroup == infrav1.GroupVersion.Group &&
		cluster.Spec.InfrastructureRef.Kind == "MaasCluster"
}

// secretReader reads kubeconfigs from the manager's cache, which its own client does not.
func secretReader(mgr ctrl.Manager) (client.Reader, error) {
	reader, err := client.New(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(),
		Scheme:     mgr.GetScheme(),
		Mapper:     mgr.GetRESTMapper(),
		Cache:      &client.CacheOptions{Reader: mgr.GetCache()},
	})
	if err != nil {
		return nil, fmt.Errorf("make the reader of kubeconfigs: %w", err)
	}
	return reader, nil
}
