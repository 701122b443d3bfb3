package simulator

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// maxBody is how many bytes of a request nginx lets through to MAAS.
const maxBody = 10 << 20

// front is what the nginx in front of a region does to requests and answers,
// on one of its ports.
type front struct {
	region *Region
	next   http.Handler
	// secure is set on the TLS port.
	secure bool
	// tlsPort is set on the plain port when there is a TLS port.
	tlsPort string
}

func (f *front) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if away := f.region.isAway(); away != nil && !away.BadGateway {
		f.region.refuse(w, req)
		return
	}
	w.Header().Set("Server", "nginx")
	if f.secure {
		// MAAS 3.2 to 3.7: with every answer, errors as well.
		w.Header().Set("Strict-Transport-Security", "max-age=15552000; includeSubdomains")
	}
	path := req.URL.EscapedPath()
	switch {
	case req.ContentLength > maxBody:
		f.answer(w, req, http.StatusRequestEntityTooLarge)
	case f.tlsPort != "" && !staysPlain(path):
		f.answerBeforeTLS(w, req, path)
	case path == "/" || path == "/MAAS" || path == "/MAAS/":
		w.Header().Set("Location", "/MAAS/r/")
		f.answer(w, req, http.StatusMovedPermanently)
	case strings.HasPrefix(path, "/MAAS/r/"):
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, userInterface) // the client may be gone
	case strings.HasPrefix(path, "/MAAS/"):
		f.next.ServeHTTP(w, req)
	default:
		f.answer(w, req, http.StatusNotFound)
	}
}

// userInterface stands where MAAS serves its user interface, which answers 200
// at every path below its own.
const userInterface = "<!doctype html><html lang=\"en\"><head><title>MAAS</title></head><body>The simulator has no user interface.</body></html>\n"

// staysPlain says what the plain port serves although there is a TLS port:
// what machines and racks ask for. MAAS 3.2 to 3.7.
func staysPlain(path string) bool {
	for _, prefix := range []string{
		"/MAAS/rpc/", "/MAAS/metadata/", apiPrefix + "/machines", "/MAAS/machine-resources/", "/MAAS/images-stream", "/MAAS/boot-resources/",
	} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return path == "/MAAS/maas-run-scripts"
}

// answerBeforeTLS sends everything else below /MAAS to the TLS port.
func (f *front) answerBeforeTLS(w http.ResponseWriter, req *http.Request, path string) {
	if !strings.HasPrefix(path, "/MAAS") {
		f.answer(w, req, http.StatusNotFound)
		return
	}
	w.Header().Set("Location", "https://"+hostname(req.Host)+":"+f.tlsPort+req.URL.RequestURI())
	f.answer(w, req, http.StatusMovedPermanently)
}

// hostname is the host of a Host header, in brackets if it is an IPv6 address.
func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		hostport = host
		if strings.Contains(host, ":") {
			hostport = "[" + host + "]"
		}
	}
	return strings.ToLower(hostport)
}

// answer ends a request without the region, which knows nothing of it; the log
// of requests to the API has it all the same.
func (f *front) answer(w http.ResponseWriter, req *http.Request, status int) {
	page := nginxPage(status)
	w.Header().Set("Content-Type", "text/html")
	if status == http.StatusRequestEntityTooLarge {
		w.Header().Set("Connection", "close")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, page) // the client may be gone
	if status == http.StatusRequestEntityTooLarge {
		linger(w, req)
	}
	if path := req.URL.EscapedPath(); strings.HasPrefix(path, apiPrefix+"/") {
		f.region.log.add(Request{Time: f.region.clock.Now(), Method: req.Method, Path: path, Status: status, Bytes: len(page)})
	}
}

// linger takes what a client still sends of a body that was refused, as nginx
// does for a while: many clients send all of it before they look for an answer.
func linger(w http.ResponseWriter, req *http.Request) {
	if req.Header.Get("Expect") != "" {
		return // it waits to be told to send
	}
	answer := http.NewResponseController(w)
	if answer.Flush() == nil && answer.SetReadDeadline(time.Now().Add(5*time.Second)) == nil {
		_, _ = io.Copy(io.Discard, req.Body) // the client may be gone
	}
}

// nginxPage is the body of an answer that nginx makes itself.
func nginxPage(status int) string {
	text := http.StatusText(status)
	switch status { // nginx has words of its own for some
	case http.StatusServiceUnavailable:
		text = "Service Temporarily Unavailable"
	case http.StatusGatewayTimeout:
		text = "Gateway Time-out"
	}
	title := fmt.Sprintf("%d %s", status, text)
	return "<html>\r\n<head><title>" + title + "</title></head>\r\n<body>\r\n<center><h1>" + title +
		"</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
}
