// Package hello is a small workload that shows whether the network of a cluster works: every pod says who it is, and
// can be asked whether it reaches a Service by its name and all of its fellow pods by their addresses.
package hello

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Report is what a pod answers when it is asked for its peers.
type Report struct {
	// From is the pod that answers.
	From string `json:"from"`
	// Service is what somebody behind the Service's own address said.
	Service Answer `json:"service"`
	// Peers are all pods behind the headless Service, ordered by address.
	Peers []Answer `json:"peers"`
}

// Answer is what came back from one address: words or an error.
type Answer struct {
	Address string `json:"address"`
	Says    string `json:"says,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Command serves until it is asked to stop.
func Command(args []string) error {
	flags := flag.NewFlagSet("hello", flag.ContinueOnError)
	pod := flags.String("pod", "", "name of this pod")
	node := flags.String("node", "", "name of the node that it runs on")
	port := flags.String("port", "8080", "port to listen on, of this pod and of its peers")
	service := flags.String("service", "hello", "name of the Service to try")
	peers := flags.String("peers", "hello-peers", "name of the headless Service of all pods")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	server := &http.Server{
		Addr:              ":" + *port,
		Handler:           handler(fmt.Sprintf("hello from %s on %s", *pod, *node), prober{*port, *service, *peers, net.DefaultResolver.LookupHost}),
		ReadHeaderTimeout: 5 * time.Second,
	}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func handler(words string, p prober) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, words) })
	mux.HandleFunc("GET /peers", func(w http.ResponseWriter, r *http.Request) {
		report, complete := p.report(r.Context(), words)
		w.Header().Set("Content-Type", "application/json")
		if !complete {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		_ = encoder.Encode(report)
	})
	return mux
}

// prober tries the network.
type prober struct {
	port, service, peers string
	lookup               func(ctx context.Context, host string) ([]string, error)
}

// report asks everybody, and says whether all answered.
func (p prober) report(ctx context.Context, from string) (Report, bool) {
	report := Report{From: from, Service: p.ask(ctx, p.service)}
	addresses, err := p.lookup(ctx, p.peers)
	if err != nil {
		report.Peers = []Answer{{Address: p.peers, Error: err.Error()}}
		return report, false
	}
	slices.Sort(addresses)
	complete := report.Service.Error == ""
	for _, address := range addresses {
		answer := p.ask(ctx, address)
		complete = complete && answer.Error == ""
		report.Peers = append(report.Peers, answer)
	}
	return report, complete
}

// ask fetches the words from a host, which is a name or an address.
func (p prober) ask(ctx context.Context, host string) Answer {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	answer := Answer{Address: host}
	words, err := fetch(ctx, "http://"+net.JoinHostPort(host, p.port)+"/")
	if err != nil {
		answer.Error = err.Error()
	}
	answer.Says = words
	return answer
}

func fetch(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	// A new connection each time: one that is kept open would always lead to the same pod.
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1000))
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("answered %s", response.Status)
	}
	return strings.TrimSpace(string(body)), nil
}
