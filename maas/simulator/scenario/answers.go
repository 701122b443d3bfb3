package scenario

import (
	"maps"
	"net/http"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// badGateway is the answer of a proxy whose region is away.
const badGateway = "bad-gateway"

// answer is what a fail answers to a request: the named answer, or one of its
// own.
func (f Fault) answer(request simulator.Request) simulator.Fault {
	out := simulator.Fault{Status: f.Status, Headers: map[string]string{}}
	if f.Status == 0 {
		name := f.Answer
		if name == "" {
			name = "unavailable"
		}
		out, _ = simulator.PresetAnswer(name, request) // the name was checked
		out.Headers = maps.Clone(out.Headers)
		if out.Headers == nil {
			out.Headers = map[string]string{}
		}
	}
	out.Committed = f.Committed
	if f.Body != "" {
		out.Body = f.Body
	}
	for name, value := range f.Headers {
		if name = http.CanonicalHeaderKey(name); name == "Content-Type" {
			out.ContentType = value
		} else {
			out.Headers[name] = value
		}
	}
	return out
}
