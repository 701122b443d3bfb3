package simulator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/miekg/dns"
)

// dnsServer answers for the region's domains over UDP and TCP.
type dnsServer struct {
	addr     string
	udp, tcp *dns.Server
}

// startDNS serves on addr; port 0 takes one that is free for both protocols.
func (r *Region) startDNS(addr string) (*dnsServer, error) {
	packet, listener, err := listenDNS(addr)
	if err != nil {
		return nil, fmt.Errorf("listen for DNS: %w", err)
	}
	s := &dnsServer{addr: packet.LocalAddr().String()}
	handler := dns.HandlerFunc(r.serveDNS)
	s.udp = &dns.Server{PacketConn: packet, Handler: handler}
	s.tcp = &dns.Server{Listener: listener, Handler: handler}
	for _, server := range []*dns.Server{s.udp, s.tcp} {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		failed := make(chan error, 1)
		go func() { failed <- server.ActivateAndServe() }()
		select {
		case <-started:
		case err := <-failed:
			_ = packet.Close()
			_ = listener.Close()
			return nil, fmt.Errorf("serve DNS: %w", err)
		}
	}
	return s, nil
}

func listenDNS(addr string) (net.PacketConn, net.Listener, error) {
	var last error
	config := &net.ListenConfig{}
	// A port that is free for UDP may be taken for TCP; another try helps only
	// when the port is ours to choose.
	for range 10 {
		packet, err := config.ListenPacket(context.Background(), "udp", addr)
		if err != nil {
			return nil, nil, err
		}
		listener, err := config.Listen(context.Background(), "tcp", packet.LocalAddr().String())
		if err == nil {
			return packet, listener, nil
		}
		_ = packet.Close()
		last = err
		if _, port, _ := net.SplitHostPort(addr); port != "0" {
			break
		}
	}
	return nil, nil, last
}

func (s *dnsServer) close() error {
	return errors.Join(s.udp.Shutdown(), s.tcp.Shutdown())
}

func (r *Region) serveDNS(w dns.ResponseWriter, query *dns.Msg) {
	reply := r.answerDNS(query)
	if reply == nil {
		reply = r.forwardDNS(w, query)
	}
	if w.LocalAddr().Network() == "udp" {
		size := dns.MinMsgSize
		if opt := query.IsEdns0(); opt != nil {
			size = max(size, int(opt.UDPSize()))
		}
		reply.Truncate(size)
	}
	_ = w.WriteMsg(reply) // the client may be gone
}

// forwardDNS asks the forwarder, or refuses when there is none.
func (r *Region) forwardDNS(w dns.ResponseWriter, query *dns.Msg) *dns.Msg {
	reply := new(dns.Msg)
	if r.cfg.DNSForwarder == "" {
		return reply.SetRcode(query, dns.RcodeRefused)
	}
	client := &dns.Client{Net: w.LocalAddr().Network(), Timeout: 5 * time.Second}
	forwarded, _, err := client.Exchange(query, r.cfg.DNSForwarder)
	if err != nil {
		return reply.SetRcode(query, dns.RcodeServerFailure)
	}
	return forwarded
}
