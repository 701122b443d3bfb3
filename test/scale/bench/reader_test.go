package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// nameServer answers every question with the addresses that it has, and counts.
type nameServer struct {
	mu        sync.Mutex
	addresses []string
	ttl       uint32
	asked     int
}

func (s *nameServer) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	answer := new(dns.Msg)
	answer.SetReply(query)
	for _, address := range s.addresses {
		header := dns.RR_Header{Name: query.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: s.ttl}
		answer.Answer = append(answer.Answer, &dns.A{Hdr: header, A: net.ParseIP(address)})
	}
	_ = w.WriteMsg(answer) // the client asks again
}

func (s *nameServer) leadsTo(addresses ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addresses = addresses
}

// newReader has a client of an API server that listens at 127.0.0.1, and the server of its name.
func newReader(t *testing.T) (*reader, *nameServer) {
	t.Helper()
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/path" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(api.Close)
	listener, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	names := &nameServer{addresses: []string{"127.0.0.1"}, ttl: 3600}
	server := &dns.Server{PacketConn: listener, Handler: names}
	go func() { _ = server.ActivateAndServe() }() // it ends with the test
	t.Cleanup(func() { _ = server.Shutdown() })
	_, text, _ := net.SplitHostPort(api.Listener.Addr().String())
	port, _ := strconv.Atoi(text)
	authorities := x509.NewCertPool()
	authorities.AddCert(api.Certificate())
	return &reader{
		config: readerConfig{Host: "example.com", Port: port, Path: "/path", DNS: listener.LocalAddr().String()},
		tls:    &tls.Config{RootCAs: authorities, ServerName: "example.com", MinVersion: tls.VersionTLS12},
	}, names
}

func TestAReaderKeepsANameForItsTTL(t *testing.T) {
	t.Parallel()
	r, names := newReader(t)
	for range 3 {
		if done := r.read(); len(done.Tries) != 1 || done.failed() {
			t.Fatalf("read %+v", done)
		}
	}
	if names.asked != 1 {
		t.Errorf("it asked for the name %d times", names.asked)
	}
	r.until = time.Now()
	if r.read(); names.asked != 2 {
		t.Errorf("it asked for the name %d times after its TTL", names.asked)
	}
}

func TestAReaderAsksAnewAndTriesOnceMore(t *testing.T) {
	t.Parallel()
	const nobody = "127.0.0.2"
	r, names := newReader(t)
	names.leadsTo(nobody)
	done := r.read()
	if len(done.Tries) != 2 || !done.failed() || done.Tries[0].TimedOut {
		t.Fatalf("of nobody it read %+v", done)
	}
	names.leadsTo("127.0.0.1") // but the reader keeps what it knows
	if done = r.read(); len(done.Tries) != 2 || done.failed() || done.Tries[0].Address != nobody {
		t.Fatalf("after a change it read %+v", done)
	}
	if done = r.read(); len(done.Tries) != 1 || done.failed() {
		t.Fatalf("and then %+v", done)
	}
	names.leadsTo()
	r.until = time.Now()
	if done = r.read(); len(done.Tries) != 2 || !done.failed() || done.Tries[1].Address != "" {
		t.Fatalf("of a name that leads nowhere it read %+v", done)
	}
}

func TestAReaderCountsWhatIsRefused(t *testing.T) {
	t.Parallel()
	r, _ := newReader(t)
	r.config.Path = "/other"
	if done := r.read(); !done.failed() || done.Tries[1].Error != "status 404 Not Found" {
		t.Errorf("read %+v", done)
	}
	if _, err := r.resolve(context.Background(), false); err != nil {
		t.Error(err)
	}
}

func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	began := time.Now()
	good, late, broken := try{Address: "10.0.0.1", Seconds: 1}, try{Seconds: 5, Error: "deadline", TimedOut: true}, try{Seconds: 0.1, Error: "refused"}
	s := &replacement{reads: []read{
		{began.Add(-time.Second), []try{late, late}}, // before
		{began, []try{good}},
		{began, []try{late, good}},
		{began, []try{broken, broken}},
	}}
	r := result{}
	s.count("", began, &r)
	want := map[string]float64{"requests": 3, "requests_failed": 1, "requests_retried": 2, "tries_broken": 2, "tries_timed_out": 1, "request_seconds_max": 6}
	for _, v := range r.Values {
		if wanted, is := want[v.Name]; is && v.Value != wanted {
			t.Errorf("%s is %g, want %g", v.Name, v.Value, wanted)
		}
		delete(want, v.Name)
	}
	if len(want) > 0 {
		t.Errorf("not counted: %v", want)
	}
}
