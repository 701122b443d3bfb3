package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

// readerCommand makes this program read from a control plane, as its first argument.
const readerCommand = "read-from-control-plane"

const (
	readerPeriod  = 200 * time.Millisecond // between requests, whether the one before has an answer or not
	tryPatience   = 5 * time.Second        // for a connection, the request and the whole answer
	queryPatience = 2 * time.Second        // for an answer of DNS
)

// readerConfig says what is read, and with which credentials. It is a file, for no command line is to hold a key.
type readerConfig struct {
	Host string `json:"host"` // the control plane's name
	Port int    `json:"port"`
	Path string `json:"path"`
	DNS  string `json:"dns"` // address and port of the server that is asked for the name
	CA   []byte `json:"ca"`
	Cert []byte `json:"cert"`
	Key  []byte `json:"key"`
}

// try is one connection with one request.
type try struct {
	Address string  `json:"address,omitempty"` // "" if the name led nowhere
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
	// TimedOut says that there was no answer in time, as opposed to: nobody was there, or the connection broke.
	TimedOut bool `json:"timed_out,omitempty"`
}

// read is one request, with its retry if it needed one.
type read struct {
	At    time.Time `json:"at"`
	Tries []try     `json:"tries"`
}

func (r read) failed() bool { return r.Tries[len(r.Tries)-1].Error != "" }

// reader is a client that keeps what DNS says for as long as DNS says, opens a connection for each request, and on a failure asks for the
// name anew and tries once more.
type reader struct {
	config readerConfig
	tls    *tls.Config

	mu        sync.Mutex
	addresses []string
	until     time.Time
	turn      int
}

// runReader reads until it is told to end, and prints each request as a line of JSON.
func runReader(args []string) error {
	flags := flag.NewFlagSet(readerCommand, flag.ContinueOnError)
	path := flags.String("config", "", "File that says what to read.")
	if err := flags.Parse(args); err != nil {
		return err
	}
	text, err := os.ReadFile(*path)
	if err != nil {
		return err
	}
	r := &reader{turn: rand.IntN(100)}
	if err := json.Unmarshal(text, &r.config); err != nil {
		return fmt.Errorf("%s: %w", *path, err)
	}
	pair, err := tls.X509KeyPair(r.config.Cert, r.config.Key)
	if err != nil {
		return fmt.Errorf("the client's certificate: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(r.config.CA) {
		return errors.New("the cluster's certificate authority is no PEM")
	}
	r.tls = &tls.Config{RootCAs: authorities, Certificates: []tls.Certificate{pair}, ServerName: r.config.Host, MinVersion: tls.VersionTLS12}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r.run(ctx, json.NewEncoder(os.Stdout))
	return nil
}

func (r *reader) run(ctx context.Context, out *json.Encoder) {
	ticker := time.NewTicker(readerPeriod)
	defer ticker.Stop()
	var running sync.WaitGroup
	var mu sync.Mutex
	for {
		select {
		case <-ctx.Done():
			running.Wait()
			return
		case <-ticker.C:
		}
		running.Go(func() {
			done := r.read()
			mu.Lock()
			defer mu.Unlock()
			_ = out.Encode(done) // nobody is left to tell if nobody listens
		})
	}
}

// read makes one request. It does not end with the program: what began is counted.
func (r *reader) read() read {
	done := read{At: time.Now()}
	for _, fresh := range []bool{false, true} {
		t := r.try(fresh)
		done.Tries = append(done.Tries, t)
		if t.Error == "" {
			break
		}
	}
	return done
}

func (r *reader) try(fresh bool) (t try) {
	began := time.Now()
	defer func() { t.Seconds = time.Since(began).Seconds() }()
	ctx, cancel := context.WithTimeout(context.Background(), tryPatience)
	defer cancel()
	address, err := r.resolve(ctx, fresh)
	if err != nil {
		t.Error = err.Error()
		return t
	}
	t.Address = address
	if err := r.get(ctx, address); err != nil {
		t.Error, t.TimedOut = err.Error(), ctx.Err() != nil
	}
	return t
}

// get opens a connection, and reads one answer to its end.
func (r *reader) get(ctx context.Context, address string) error {
	to := net.JoinHostPort(address, strconv.Itoa(r.config.Port))
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: r.tls, DialContext: func(ctx context.Context, kind, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, kind, to)
	}}
	defer transport.CloseIdleConnections()
	url := "https://" + net.JoinHostPort(r.config.Host, strconv.Itoa(r.config.Port)) + r.config.Path
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return fmt.Errorf("the answer broke off: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("status %s", answer.Status)
	}
	return nil
}

// resolve returns one of the name's addresses, each in its turn. Fresh does not take what is kept.
func (r *reader) resolve(ctx context.Context, fresh bool) (string, error) {
	r.mu.Lock()
	kept := r.addresses
	if fresh || !time.Now().Before(r.until) {
		kept = nil
	}
	r.turn++
	turn := r.turn
	r.mu.Unlock()
	if len(kept) == 0 {
		addresses, ttl, err := ask(ctx, r.config.DNS, r.config.Host)
		if err != nil {
			return "", err
		}
		r.mu.Lock()
		r.addresses, r.until = addresses, time.Now().Add(ttl)
		r.mu.Unlock()
		kept = addresses
	}
	return kept[turn%len(kept)], nil
}

// ask asks a DNS server for the IPv4 addresses of a name, twice if the first question has no answer, as resolvers do.
func ask(ctx context.Context, server, host string) (addresses []string, ttl time.Duration, err error) {
	query := new(dns.Msg)
	query.SetQuestion(dns.Fqdn(host), dns.TypeA)
	client := &dns.Client{Timeout: queryPatience}
	answer, _, err := client.ExchangeContext(ctx, query, server)
	if err != nil {
		answer, _, err = client.ExchangeContext(ctx, query, server)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("look up %s: %w", host, err)
	}
	for _, row := range answer.Answer {
		if a, is := row.(*dns.A); is {
			kept := time.Duration(a.Hdr.Ttl) * time.Second
			if len(addresses) == 0 || kept < ttl {
				ttl = kept
			}
			addresses = append(addresses, a.A.String())
		}
	}
	if len(addresses) == 0 {
		return nil, 0, fmt.Errorf("%s leads nowhere: %s", host, dns.RcodeToString[answer.Rcode])
	}
	return addresses, ttl, nil
}
