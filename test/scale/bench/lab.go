package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// lab is the world of one scenario: a namespace, a region, the manager that is measured, and what plays Cluster API.
type lab struct {
	*environment
	name      string
	namespace string
	region    *simulator.Region
	manager   *manager
	seen      *tracker
	closers   []func() error
}

// maasLike is how long a MAAS takes to answer.
func maasLike() simulator.Latency {
	return simulator.Latency{
		Allocate: time.Second, Deploy: 3 * time.Second, Release: 2 * time.Second, Write: 300 * time.Millisecond,
		Read: 100 * time.Millisecond, PerMachine: 20 * time.Millisecond,
	}
}

const image = "custom/bench"

// newLab starts everything but the objects. What it started ends with close, even after an error.
func newLab(ctx context.Context, e *environment, name string, config simulator.Config, folder string) (*lab, error) {
	l := &lab{environment: e, name: name}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"}}
	if err := e.api.Create(ctx, namespace); err != nil {
		return l, fmt.Errorf("make a namespace: %w", err)
	}
	l.namespace = namespace.Name
	config.Images = []simulator.Image{{Name: image}}
	var err error
	if l.region, err = simulator.New(config); err != nil {
		return l, err
	}
	server, err := l.region.Start(context.WithoutCancel(ctx), "127.0.0.1:0")
	if err != nil {
		return l, err
	}
	l.closers = append(l.closers, server.Close)
	if err := l.playClusterAPI(ctx); err != nil {
		return l, err
	}
	scratch, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return l, err
	}
	l.closers = append(l.closers, func() error { return os.RemoveAll(scratch) })
	kubeconfig := filepath.Join(scratch, "kubeconfig")
	if err := os.WriteFile(kubeconfig, e.kubeconfig, 0o600); err != nil {
		return l, err
	}
	if l.manager, err = startManager(folder, name, kubeconfig, l.namespace, server.URL); err != nil {
		return l, err
	}
	l.closers = append(l.closers, l.manager.stop)
	return l, nil
}

// close ends what the lab started, the last first.
func (l *lab) close() error {
	var failed []error
	for i := len(l.closers) - 1; i >= 0; i-- {
		failed = append(failed, l.closers[i]())
	}
	return errors.Join(failed...)
}

// say tells whoever waits what is going on.
func (l *lab) say(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "%s  %-9s  %s\n", time.Now().Format(time.TimeOnly), l.name, fmt.Sprintf(format, values...))
}

// since is the part of the access log that began at a time.
func (l *lab) since(began time.Time) []simulator.Request {
	return slices.DeleteFunc(l.region.Requests(), func(r simulator.Request) bool { return r.Time.Before(began) })
}

// observe waits for a while, and returns what MAAS was asked in it.
func (l *lab) observe(ctx context.Context, window time.Duration, r *result) error {
	l.say("counting requests for %s", window)
	began := time.Now()
	before, err := l.manager.cpuSeconds()
	if err != nil {
		return err
	}
	if err := sleep(ctx, window); err != nil {
		return err
	}
	return l.finish(r, began, before)
}

// finish fills in what is measured in every scenario, for the time since it began.
func (l *lab) finish(r *result, began time.Time, cpuBefore float64) error {
	r.Traffic = count(l.since(began))
	r.Seconds = time.Since(began).Seconds()
	after, err := l.manager.cpuSeconds()
	if err != nil {
		return err
	}
	r.CPUSeconds = after - cpuBefore
	r.MaxRSSMiB, err = maxRSSMiB(l.manager.command.Process.Pid)
	return err
}
