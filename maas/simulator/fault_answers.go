package simulator

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// preset is an answer that MAAS or a proxy in front of it gives on a bad day.
type preset struct {
	name   string
	answer func(Request) Fault
}

func presets() []preset {
	return []preset{
		// MAAS 3.4 to 3.7: what fails after the commit is told so, as text.
		{"unavailable", said(addressesUnchecked())},
		{"no-rack", said(noRack(rackID))},
		{"error", said(text(http.StatusInternalServerError, "Could not contact node's BMC: timed out"))},
		{"conflict", func(r Request) Fault { return exception(http.StatusConflict, typeText, violation(r)) }},
		{"conflict-retry", func(Request) Fault { return gaveUp() }},
		{"forbidden", func(Request) Fault { return exception(http.StatusForbidden, typeText, "") }},
		{"unauthorized", func(Request) Fault {
			refused := unauthorized("Invalid API key.")
			f := exception(refused.status, refused.contentType, refused.body)
			maps.Copy(f.Headers, refused.headers)
			return f
		}},
		{"bad-gateway", func(Request) Fault { return nginxAnswer(http.StatusBadGateway) }},
		{"proxy-unavailable", func(Request) Fault { return nginxAnswer(http.StatusServiceUnavailable) }},
		{"gateway-timeout", func(Request) Fault { return nginxAnswer(http.StatusGatewayTimeout) }},
		{"haproxy-bad-gateway", func(Request) Fault { return haproxyAnswer(http.StatusBadGateway) }},
		{"haproxy-unavailable", func(Request) Fault { return haproxyAnswer(http.StatusServiceUnavailable) }},
		{"haproxy-timeout", func(Request) Fault { return haproxyAnswer(http.StatusGatewayTimeout) }},
	}
}

// PresetAnswers are the names that PresetAnswer knows.
func PresetAnswers() []string {
	var out []string
	for _, p := range presets() {
		out = append(out, p.name)
	}
	return out
}

// PresetAnswer returns a fault that answers r as MAAS, or a proxy in front of
// it, does on a bad day; false when there is none of that name. The caller may
// add Committed, Delay and so on.
//
//	unavailable          503, text of MAAS's without Retry-After
//	no-rack              503, text of MAAS's with Retry-After: 10
//	error                500, text of an exception
//	conflict             409, text: what the operation says of a wrong state
//	conflict-retry       409, page with Retry-After: 5: the database gave up
//	forbidden            403, empty
//	unauthorized         401, as for an unknown key
//	bad-gateway          502, page of nginx's
//	proxy-unavailable    503, page of nginx's
//	gateway-timeout      504, page of nginx's
//	haproxy-bad-gateway  502, page of HAProxy's
//	haproxy-unavailable  503, page of HAProxy's
//	haproxy-timeout      504, page of HAProxy's
func PresetAnswer(name string, r Request) (Fault, bool) {
	all := presets()
	i := slices.IndexFunc(all, func(p preset) bool { return p.name == name })
	if i < 0 {
		return Fault{}, false
	}
	return all[i].answer(r), true
}

// said answers what MAAS itself says of a request that it committed.
func said(r *refusal) func(Request) Fault {
	return func(Request) Fault {
		return Fault{Status: r.status, Body: r.body, ContentType: r.contentType, Headers: maps.Clone(r.headers)}
	}
}

// exception is what MAAS makes of an exception in a request that then never
// was.
func exception(status int, contentType, body string) Fault {
	return Fault{Status: status, Body: body, ContentType: contentType, Headers: map[string]string{"Vary": "Cookie"}}
}

// violation is what an operation says of an object whose state does not allow
// it.
func violation(r Request) string {
	switch r.Op {
	case "allocate":
		if r.SystemID != "" {
			return "No machine with system ID " + r.SystemID + " available."
		}
		return "No machine available."
	case "deploy":
		return "Can't deploy a machine that is in the 'Testing' state"
	case "release":
		if r.SystemID == "" { // several at once
			return "Machine(s) cannot be released in their current state: " + strings.Join(r.Form["machines"], " ('Testing'), ") + " ('Testing')."
		}
		return "Machine cannot be released in its current state ('Testing')."
	case "abort":
		return "Cannot abort in current state: node " + r.SystemID + " is in state Ready."
	case "power_on":
		return "Can't start node: it hasn't been allocated."
	case "set_workload_annotations", "set_owner_data":
		return "Cannot set workload annotation: it hasn't been acquired."
	case "mark_fixed":
		return "Can't mark a non-broken node as 'Ready'."
	case "lock":
		return "Can't lock, node is not deployed or deploying"
	case "unlock":
		return "Machine is not locked"
	}
	return "Invalid transition: Ready -> Exiting rescue mode."
}

// gaveUp is the page of a transaction that the database refused too often.
// MAAS 3.3.5 to 3.7.
func gaveUp() Fault {
	return Fault{
		Status: http.StatusConflict, ContentType: typeHTML, Headers: map[string]string{"Retry-After": "5"},
		Body: `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en">
  <head>
    <title>Error: Conflict Error</title>
  </head>
  <body>
    <h2 class="p-heading--four">
      Conflict error. Try your request again, as it will most likely succeed.
    </h2>
  </body>
</html>
`,
	}
}

// nginxAnswer is an answer of nginx's own, which MAAS has in front of its
// region controllers.
func nginxAnswer(status int) Fault {
	return Fault{Proxy: true, Status: status, ContentType: "text/html", Headers: map[string]string{"Server": "nginx"}, Body: nginxPage(status)}
}

// haproxyAnswer is an answer of HAProxy's own, which people put in front of
// several region controllers.
func haproxyAnswer(status int) Fault {
	said := map[int][2]string{
		http.StatusBadGateway:         {"502 Bad Gateway", "The server returned an invalid or incomplete response."},
		http.StatusServiceUnavailable: {"503 Service Unavailable", "No server is available to handle this request."},
		http.StatusGatewayTimeout:     {"504 Gateway Time-out", "The server didn't respond in time."},
	}[status]
	return Fault{
		Proxy: true, Status: status, ContentType: "text/html", Headers: map[string]string{"Cache-Control": "no-cache"},
		Body: "<html><body><h1>" + said[0] + "</h1>\n" + said[1] + "\n</body></html>\n\n",
	}
}
