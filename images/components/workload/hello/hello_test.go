package hello

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

func TestPeersReportsWhoAnswered(t *testing.T) {
	t.Parallel()
	var p prober
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler("me", p).ServeHTTP(w, r) }))
	defer server.Close()
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(address.Host)
	if err != nil {
		t.Fatal(err)
	}
	noSuchName := errors.New("no such name")
	for _, test := range []struct {
		name    string
		found   []string
		err     error
		service string
		status  int
		says    []string
	}{
		{"all answer", []string{host, host}, nil, host, http.StatusOK, []string{"me", "me"}},
		{"nobody listens on one address", []string{host, "127.0.0.255"}, nil, host, http.StatusServiceUnavailable, []string{"me", ""}},
		{"the name is unknown", nil, noSuchName, host, http.StatusServiceUnavailable, []string{""}},
		{"the Service does not answer", []string{host}, nil, "127.0.0.255", http.StatusServiceUnavailable, []string{"me"}},
	} {
		p = prober{port, test.service, "peers", func(context.Context, string) ([]string, error) { return test.found, test.err }}
		response, err := http.Get(server.URL + "/peers")
		if err != nil {
			t.Fatal(err)
		}
		var report Report
		err = json.NewDecoder(response.Body).Decode(&report)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != test.status || report.From != "me" || len(report.Peers) != len(test.says) {
			t.Errorf("%s: %s %+v %v", test.name, response.Status, report, err)
			continue
		}
		for i, says := range test.says {
			if peer := report.Peers[i]; peer.Says != says || (peer.Error == "") != (says != "") {
				t.Errorf("%s: peer %+v, want %q", test.name, peer, says)
			}
		}
	}
}
