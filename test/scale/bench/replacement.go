package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

const (
	replacementState   = ".sandbox-bench" // the folder of the sandbox, beside a person's own
	replacementCluster = "t-cluster"
	// A machine of the sandbox takes a minute; on a busy host it may take some.
	roundPatience = 25 * time.Minute
	// calm is how long the client reads before the first round and after each.
	calm = 20 * time.Second
)

// replacing returns a scenario that replaces the three machines of a real control plane, one after the other, so many times, and counts which
// requests of a client fail meanwhile. Unheld takes our hook away from Machines that are deleted, to see what the hold is good for.
func replacing(rounds int, unheld bool) func(context.Context, options, *result) error {
	return func(ctx context.Context, o options, r *result) error {
		r.Clusters, r.Machines = 1, 3
		return (&replacement{checkout: o.checkout, out: o.out, rounds: rounds, unheld: unheld}).run(ctx, r)
	}
}

func (s *replacement) run(ctx context.Context, r *result) (err error) {
	defer func() { err = errors.Join(err, s.sandbox(context.WithoutCancel(ctx), "down")) }()
	if err := s.sandbox(ctx, "up", "--machines=5", "--control-plane=3", "--workers=0", "--timeout=20m"); err != nil {
		return err
	}
	if err := s.connect(); err != nil {
		return err
	}
	if err := s.undrained(ctx); err != nil {
		return err
	}
	end, err := s.startReader(ctx)
	if err != nil {
		return err
	}
	defer end()
	began := time.Now()
	watched, stop := context.WithCancel(ctx)
	defer stop()
	go s.watch(watched)
	if err := sleep(ctx, calm); err != nil {
		return err
	}
	for round := range s.rounds {
		from := time.Now()
		if err := s.replaceAll(ctx); err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
		if err := sleep(ctx, calm); err != nil {
			return err
		}
		s.count(fmt.Sprintf("round_%d_", round+1), from, r)
	}
	end()
	r.Seconds = time.Since(began).Seconds()
	s.count("", began, r)
	return s.readerErr()
}

// replacement is one run of it.
type replacement struct {
	checkout, out string
	rounds        int
	unheld        bool
	management    client.Client

	mu    sync.Mutex
	reads []read
	wrong error // why no more is read
}

func (s *replacement) name() string {
	if s.unheld {
		return "replacement-unheld"
	}
	return "replacement"
}

// sandbox runs the sandbox program.
func (s *replacement) sandbox(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(s.checkout, "_build/bin/sandbox"), append(args, "--dir", replacementState)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.checkout, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("sandbox %s: %w", args[0], err)
	}
	return nil
}

func (s *replacement) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(s.checkout, replacementState, "management.kubeconfig"))
	if err != nil {
		return err
	}
	config.Timeout = 20 * time.Second
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.AddToScheme, controlplanev1.AddToScheme, infrav1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	s.management, err = client.New(config, client.Options{Scheme: scheme})
	return err
}

// startReader starts the client inside the sandbox's network, where the control plane and MAAS's DNS are. End stops it, and returns when all
// that it asked for was answered.
func (s *replacement) startReader(ctx context.Context) (end func(), err error) {
	config, err := s.writeReaderConfig(ctx)
	if err != nil {
		return nil, err
	}
	pid, err := firstProcess(filepath.Join(s.checkout, replacementState))
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "nsenter", "--net=/proc/"+strconv.Itoa(pid)+"/ns/net", program, readerCommand, "-config", config)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stderr = os.Stderr
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	kept, err := os.Create(filepath.Join(s.out, s.name()+"-requests.jsonl"))
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, kept.Close())
	}
	var told bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.collect(lines, kept)
		err := errors.Join(cmd.Wait(), kept.Close())
		s.mu.Lock()
		defer s.mu.Unlock()
		if !told && ctx.Err() == nil {
			s.wrong = fmt.Errorf("the client ended: %w", errors.Join(err, errors.New("nobody told it to")))
		}
	}()
	return func() {
		s.mu.Lock()
		told = true
		s.mu.Unlock()
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		<-ended
	}, nil
}

// collect keeps what the client prints, and says at once what went wrong.
func (s *replacement) collect(lines io.Reader, kept *os.File) {
	scanner := bufio.NewScanner(lines)
	for scanner.Scan() {
		var done read
		if json.Unmarshal(scanner.Bytes(), &done) != nil || len(done.Tries) == 0 {
			continue
		}
		fmt.Fprintf(kept, "%s\n", scanner.Bytes())
		s.mu.Lock()
		s.reads = append(s.reads, done)
		s.mu.Unlock()
		if len(done.Tries) > 1 {
			s.say("a request of %s: %+v", done.At.Format("15:04:05.0"), done.Tries)
		}
	}
}

func (s *replacement) readerErr() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrong
}

// writeReaderConfig takes the credentials that Cluster API made for the cluster's administrator.
func (s *replacement) writeReaderConfig(ctx context.Context) (string, error) {
	secret := &corev1.Secret{}
	if err := s.management.Get(ctx, client.ObjectKey{Namespace: "default", Name: replacementCluster + "-kubeconfig"}, secret); err != nil {
		return "", err
	}
	kubeconfig, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["value"])
	if err != nil {
		return "", err
	}
	cluster := &infrav1.MaasCluster{}
	if err := s.management.Get(ctx, client.ObjectKey{Namespace: "default", Name: replacementCluster}, cluster); err != nil {
		return "", err
	}
	text, err := json.Marshal(readerConfig{
		Host: cluster.Spec.ControlPlaneEndpoint.Host, Port: int(cluster.Spec.ControlPlaneEndpoint.Port), Path: "/api/v1/namespaces/kube-system",
		DNS: "10.20.0.2:53", CA: kubeconfig.CAData, Cert: kubeconfig.CertData, Key: kubeconfig.KeyData,
	})
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.checkout, replacementState, "reader.json")
	return path, os.WriteFile(path, text, 0o600)
}

// firstProcess finds the process in whose network all of a sandbox runs.
func firstProcess(state string) (int, error) {
	state, err := filepath.Abs(state)
	if err != nil {
		return 0, err
	}
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return 0, err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it ended
		}
		args := strings.Split(string(text), "\x00")
		if at := slices.Index(args, "--dir"); slices.Contains(args, "internal-init") && at >= 0 && at+1 < len(args) && args[at+1] == state {
			return strconv.Atoi(filepath.Base(filepath.Dir(path)))
		}
	}
	return 0, errors.New("no process of the sandbox was found")
}

// replaceAll has all machines of the control plane replaced, one after the other, as Cluster API does it.
func (s *replacement) replaceAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, roundPatience)
	defer cancel()
	before, err := s.machines(ctx)
	if err != nil {
		return err
	}
	if err := s.editControlPlane(ctx, func(kcp *controlplanev1.KubeadmControlPlane) { kcp.Spec.Rollout.After = metav1.Now() }); err != nil {
		return err
	}
	s.say("all %d machines are to be replaced", len(before))
	for {
		// What cannot be read now is read in a moment.
		now, err := s.machines(ctx)
		if err == nil && isReplaced(before, now) {
			return nil
		}
		if sleep(ctx, 2*time.Second) != nil {
			return fmt.Errorf("the machines were not replaced: %w", errors.Join(err, ctx.Err()))
		}
	}
}

// undrained has Cluster API drain no Node of the control plane: a drain takes about as long as the hold, and would hide it.
func (s *replacement) undrained(ctx context.Context) error {
	return s.editControlPlane(ctx, func(kcp *controlplanev1.KubeadmControlPlane) {
		kcp.Spec.MachineTemplate.ObjectMeta.Annotations = map[string]string{clusterv1.ExcludeNodeDrainingAnnotation: ""}
	})
}

func (s *replacement) editControlPlane(ctx context.Context, change func(*controlplanev1.KubeadmControlPlane)) error {
	kcp := &controlplanev1.KubeadmControlPlane{}
	if err := s.management.Get(ctx, client.ObjectKey{Namespace: "default", Name: replacementCluster + "-control-plane"}, kcp); err != nil {
		return err
	}
	old := kcp.DeepCopy()
	change(kcp)
	return s.management.Patch(ctx, kcp, client.MergeFrom(old))
}

// isReplaced says that no machine of before is left, and that as many others serve.
func isReplaced(before, now []clusterv1.Machine) bool {
	if len(now) != len(before) {
		return false
	}
	for i := range now {
		isOld := slices.ContainsFunc(before, func(m clusterv1.Machine) bool { return m.UID == now[i].UID })
		isHealthy := slices.ContainsFunc(now[i].Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == controlplanev1.KubeadmControlPlaneMachineAPIServerPodHealthyCondition && c.Status == metav1.ConditionTrue
		})
		if isOld || !isHealthy || !now[i].DeletionTimestamp.IsZero() {
			return false
		}
	}
	return true
}

func (s *replacement) machines(ctx context.Context) ([]clusterv1.Machine, error) {
	list := &clusterv1.MachineList{}
	err := s.management.List(ctx, list, client.InNamespace("default"), client.HasLabels{clusterv1.MachineControlPlaneLabel})
	return list.Items, err
}

// count adds what came of the requests since a time.
func (s *replacement) count(prefix string, since time.Time, r *result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var requests, retried, failed, timedOut, broken float64
	var took []float64
	for _, done := range s.reads {
		if done.At.Before(since) {
			continue
		}
		requests++
		seconds := 0.0
		for _, t := range done.Tries {
			seconds += t.Seconds
			switch {
			case t.TimedOut:
				timedOut++
			case t.Error != "":
				broken++
			}
		}
		took = append(took, seconds)
		if len(done.Tries) > 1 {
			retried++
		}
		if done.failed() {
			failed++
		}
	}
	r.add(prefix+"seconds", time.Since(since).Seconds(), nil)
	r.add(prefix+"requests", requests, nil)
	aim := atMost(0)
	if s.unheld {
		aim = nil
	}
	r.add(prefix+"requests_failed", failed, aim)
	r.add(prefix+"requests_retried", retried, nil)
	r.add(prefix+"tries_broken", broken, nil)
	r.add(prefix+"tries_timed_out", timedOut, nil)
	if len(took) > 0 {
		slices.Sort(took)
		r.add(prefix+"request_seconds_p50", percentile(took, 50), nil)
		r.add(prefix+"request_seconds_max", percentile(took, 100), nil)
	}
}
