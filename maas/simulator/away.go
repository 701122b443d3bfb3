package simulator

import "net/http"

// Away is a region that does not answer.
type Away struct {
	// BadGateway has a proxy in front of the region, which answers 502 with a
	// page of its own. Without it all connections are reset.
	BadGateway bool
}

// SetAway takes the region's API and metadata service away, for all clients,
// requests that wait or hang included; nil brings them back. DNS goes on, and
// so does what machines do.
func (r *Region) SetAway(a *Away) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a != nil && r.away == nil {
		close(r.cut)
	}
	if a == nil && r.away != nil && !r.closed {
		r.cut = make(chan struct{})
	}
	r.away = a
}

// isAway returns how the region is away; nil when it is there.
func (r *Region) isAway() *Away {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.away
}

// strike does what becomes of a request while the region is away.
func (a *Away) strike(w http.ResponseWriter, log func(status, bytes int)) {
	if !a.BadGateway {
		log(0, 0)
		resetConnection(w)
		return
	}
	page := nginxAnswer(http.StatusBadGateway).answer()
	log(page.status, len(page.body))
	page.write(w)
}

// refuse answers a request that comes while the region is away, and says
// whether it is.
func (r *Region) refuse(w http.ResponseWriter, req *http.Request) bool {
	began, away := r.stopwatch(), r.isAway()
	if away == nil {
		return false
	}
	entry := Request{Time: r.clock.Now(), Method: req.Method, Path: req.URL.EscapedPath(), Fault: faultAway}
	away.strike(w, func(status, bytes int) {
		entry.Status, entry.Bytes, entry.Duration = status, bytes, r.stopwatch().Sub(began)
		r.log.add(entry)
	})
	return true
}
