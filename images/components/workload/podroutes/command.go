// Package podroutes connects the pods of a cluster whose nodes share one network segment: every node gets a
// configuration for the network plugins that gives out addresses of its own pod range, and a route to every other
// node's pod range through that node's address. There is no tunnel and nothing to configure.
package podroutes

import (
	"context"
	"flag"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/capmaas/cluster-api-provider-maas/images/components/workload/podroutes/nodenet"
)

// repairInterval is how often the plan is applied again though no node changed, in case somebody else changed routes.
const repairInterval = time.Minute

// Command runs the program with its arguments (without its name) until it is asked to stop, inside a pod that shares
// the network of its node.
func Command(args []string) error {
	flags := flag.NewFlagSet("pod-routes", flag.ContinueOnError)
	self := flags.String("node", "", "name of the node this runs on")
	path := flags.String("conflist", "/etc/cni/net.d/10-pod-routes.conflist", "where the network plugins' configuration is written")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *self == "" {
		return fmt.Errorf("--node is missing: it is the name of the node this runs on")
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return fmt.Errorf("finding the API server: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client of the API server: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return follow(ctx, client, *self, *path)
}

// follow applies the plan whenever a node changes in a way that matters.
func follow(ctx context.Context, client kubernetes.Interface, self, path string) error {
	factory := informers.NewSharedInformerFactory(client, 0)
	nodes := factory.Core().V1().Nodes()
	changed := make(chan struct{}, 1)
	wake := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	_, err := nodes.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { wake() },
		DeleteFunc: func(any) { wake() },
		UpdateFunc: func(before, after any) {
			if nodenet.Differ(before.(*corev1.Node), after.(*corev1.Node)) {
				wake()
			}
		},
	})
	if err != nil {
		return fmt.Errorf("watching nodes: %w", err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	repair := time.NewTicker(repairInterval)
	defer repair.Stop()
	for {
		if err := refresh(ctx, nodes.Lister(), self, path); err != nil {
			klog.ErrorS(err, "The network of this node is not as it should be; trying again", "node", self)
			time.AfterFunc(2*time.Second, wake)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-repair.C:
		}
	}
}

func refresh(ctx context.Context, lister listers.NodeLister, self, path string) error {
	nodes, err := lister.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	plan, err := nodenet.Compute(self, nodes)
	if err != nil {
		return err
	}
	return apply(ctx, plan, path)
}
