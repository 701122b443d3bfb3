package simulator

import "time"

// arrival is what a request can see of the others. MAAS 3.4: a transaction
// knows what was committed when it began, and no constraint of the database
// keeps two that began together from making the same name, or from using the
// same nonce. Whatever else two requests want is given to one of them.
type arrival struct {
	resources int // the last DNS resource's ID
	nonces    int // how many nonces had been used
}

// spentNonce is a nonce that a request was accepted with.
type spentNonce struct {
	at     time.Time
	number int
}

// arrive remembers what is committed now that the request begins.
func (e *execution) arrive() {
	r := e.region
	r.mu.Lock()
	defer r.mu.Unlock()
	e.call.arrived = r.state.arrival()
}

// arrival is that of a request that begins now.
func (s *state) arrival() arrival {
	return arrival{resources: s.resources.last, nonces: s.spentNonces}
}

// sees says whether a DNS resource had been made when the request began.
func (a arrival) sees(res *dnsResource) bool { return res.id <= a.resources }
