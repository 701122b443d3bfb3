package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// workloadLabel tells the Nodes of one workload cluster from those of others.
const workloadLabel = "bench.capmaas.io/workload"

func workloadValue(namespace, cluster string) string { return namespace + "." + cluster }

// startWorkload serves the API of a workload cluster, and returns a kubeconfig. The management cluster's own API server stands behind
// it, of which it shows the Nodes that belong to the workload cluster.
func (l *lab) startWorkload(ctx context.Context, cluster string) (kubeconfig []byte, err error) {
	target, err := url.Parse(l.config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(l.config)
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	selector := workloadLabel + "=" + workloadValue(l.namespace, cluster)
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // watches
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if r.In.Method == http.MethodGet && r.In.URL.Path == "/api/v1/nodes" {
				query := r.In.URL.Query()
				query.Set("labelSelector", selector)
				r.Out.URL.RawQuery = query.Encode()
			}
		},
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: proxy, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // it always ends with an error: that it was closed
	l.closers = append([]func() error{server.Close}, l.closers...)
	return clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{cluster: {Server: "http://" + listener.Addr().String()}},
		Contexts:       map[string]*clientcmdapi.Context{cluster: {Cluster: cluster, AuthInfo: cluster}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{cluster: {}},
		CurrentContext: cluster,
	})
}
