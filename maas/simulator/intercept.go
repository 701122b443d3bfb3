package simulator

// SetIntercept replaces Config.Intercept; nil removes it.
func (r *Region) SetIntercept(f func(Request) Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.intercept = f
}

// AddIntercept has f asked about every API request too, after Config.Intercept
// and those added before. The first fault that is not zero is done, and nobody
// after that is asked. f may be called from several goroutines, and may use
// the region. remove takes f away again; requests that are on their way may
// still ask it.
func (r *Region) AddIntercept(f func(Request) Fault) (remove func()) {
	return addHook(r, &r.addedIntercepts, f)
}

// intercept asks what is wanted to happen to the request, without the lock, so
// that the one who is asked may change the region.
func (e *execution) intercept() (Fault, Latency) {
	r := e.region
	r.mu.Lock()
	first, more, latency := r.intercept, r.addedIntercepts, r.drawn(r.latency)
	e.cut = r.cut
	if oauth, found, _ := oauthParams(e.http); found {
		if key, ok := r.state.tokens.get(oauth["oauth_token"]); ok && key.owner != nil {
			e.entry.User = key.owner.name
		}
	}
	r.mu.Unlock()
	if first != nil {
		if fault := first(*e.entry); !fault.none() {
			return fault, latency
		}
	}
	for _, f := range more {
		if fault := (*f)(*e.entry); !fault.none() {
			return fault, latency
		}
	}
	return Fault{}, latency
}
