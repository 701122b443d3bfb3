package simulator

import (
	"net/http"
	"net/url"
	"strings"
)

// Handler serves the REST API below /MAAS/api/2.0/ and the metadata service
// below /MAAS/metadata/.
func (r *Region) Handler() http.Handler {
	return r.port(false, "")
}

// port is the handler of one of the region's ports, and what stands before it.
func (r *Region) port(secure bool, tlsPort string) http.Handler {
	return &front{region: r, next: r.behind(), secure: secure, tlsPort: tlsPort}
}

// behind is the region's own server, without what stands before it: so was it
// recorded.
func (r *Region) behind() http.Handler {
	return &handler{region: r, router: newRouter(r.operations())}
}

type handler struct {
	region *Region
	router *router
}

func (h *handler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path := req.URL.EscapedPath()
	switch {
	case h.region.refuse(w, req):
	case path == describePath && (req.Method == http.MethodGet || req.Method == http.MethodHead):
		h.describe(w, req)
	case strings.HasPrefix(path, apiPrefix+"/"):
		h.serveAPI(w, req, path)
	case strings.HasPrefix(path, metadataPrefix):
		h.region.serveMetadata(w, req)
	default:
		serveElsewhere(w, path)
	}
}

// serveElsewhere answers as the region does outside of the API.
func serveElsewhere(w http.ResponseWriter, path string) {
	switch {
	case path == "/MAAS/api/version/":
		w.Header().Set("Content-Type", typePlain)
		_, _ = w.Write([]byte("2.0"))
	case path == "/MAAS/api/version":
		w.Header().Set("Content-Type", typeHTML)
		w.Header().Set("Location", path+"/")
		w.WriteHeader(http.StatusMovedPermanently)
	case strings.HasPrefix(path, "/MAAS/api/1.0/"):
		w.Header().Set("Content-Type", typePlain)
		w.WriteHeader(http.StatusGone)
		_, _ = w.Write([]byte("The 1.0 API is no longer available. Please use API version 2.0."))
	default:
		w.Header().Set("Content-Type", typeHTML)
		w.Header().Set("Vary", "Cookie")
		w.Header().Set("Location", "/MAAS/?next="+url.QueryEscape(path))
		w.WriteHeader(http.StatusFound)
	}
}

func (h *handler) serveAPI(w http.ResponseWriter, req *http.Request, path string) {
	began := h.region.stopwatch()
	refuse := func(refused *refusal) {
		refused.write(w)
		h.region.log.add(Request{
			Time: h.region.clock.Now(), Method: req.Method, Path: path, Status: refused.status, Duration: h.region.stopwatch().Sub(began), Bytes: len(refused.body),
		})
	}
	segments, op, slashed := split(strings.TrimPrefix(path, apiPrefix))
	res, vars := h.router.find(segments)
	if !slashed || res == nil {
		refuse(unknownEndpoint(path))
		return
	}
	sent, refused := readBody(req, res.takesContent())
	if refused != nil {
		refuse(refused)
		return
	}
	query := parsePairs(req.URL.RawQuery)
	if name := query.get("op"); name != "" {
		op = name
	} else if name := sent.form.get("op"); name != "" && req.Method == http.MethodPost && op == "" {
		op = name
	}
	entry := Request{
		Time: h.region.clock.Now(), Method: req.Method, Path: path, Op: op,
		Query: redact(query.urlValues()), Form: redact(sent.form.urlValues()), Received: sent.size,
	}
	if found := res.operation(req.Method, op); found != nil {
		entry.Operation = res.command + " " + found.verb()
	}
	if entry.SystemID = vars["system_id"]; entry.SystemID == "" {
		entry.SystemID = query.get("system_id") + sent.form.get("system_id")
	}
	run := &execution{
		region: h.region, resource: res, http: req, entry: &entry, began: began, op: op,
		call: call{vars: vars, query: query, body: sent, form: sent.form},
	}
	run.serve(w)
}
