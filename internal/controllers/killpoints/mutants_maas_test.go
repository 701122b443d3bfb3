package killpoints

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// roundTrip is a way to MAAS.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip is http.RoundTripper's.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// asksFor says what a request is for, as "POST machines/aaaaa1/ release".
func asksFor(r *http.Request) string {
	_, path, _ := strings.Cut(r.URL.Path, "/api/2.0/")
	return strings.TrimSpace(r.Method + " " + path + " " + r.URL.Query().Get("op"))
}

// ofMachine says that a request has this method and operation, and is to one machine, whose system ID it returns.
func ofMachine(r *http.Request, method, op string) (systemID string, is bool) {
	rest, isMachine := strings.CutPrefix(asksFor(r), method+" machines/")
	systemID, rest, isOne := strings.Cut(rest, "/")
	return systemID, isMachine && isOne && strings.TrimSpace(rest) == op
}

// answers is an answer that MAAS did not give.
func answers(r *http.Request, body string) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// bodyOf reads an answer, which can be read again afterwards.
func bodyOf(a *http.Response) (string, error) {
	body, err := io.ReadAll(a.Body)
	_ = a.Body.Close()
	a.Body = io.NopCloser(bytes.NewReader(body))
	return string(body), err
}

// formOf reads what a request sends, which can be sent afterwards.
func formOf(r *http.Request) url.Values {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	form, _ := url.ParseQuery(string(body))
	return form
}

// sends puts a form into a request in place of what is there.
func sends(r *http.Request, form url.Values) *http.Request {
	body := form.Encode()
	other := r.Clone(r.Context())
	other.Body, other.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	other.GetBody = nil
	return other
}

// withoutField forgets a parameter of an operation.
func withoutField(request, field string) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			method, rest, _ := strings.Cut(request, " ")
			path, op, _ := strings.Cut(rest, " ")
			if strings.HasPrefix(asksFor(r), method+" "+path) && r.URL.Query().Get("op") == op {
				form := formOf(r)
				form.Del(field)
				r = sends(r, form)
			}
			return next.RoundTrip(r)
		})
	}
}

// actsOnTheSharedView takes what a list for all showed for a look at one machine.
func actsOnTheSharedView(next http.RoundTripper) http.RoundTripper {
	seen := map[string]any{}
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if systemID, is := ofMachine(r, http.MethodGet, ""); is && seen[systemID] != nil {
			return answersWith(r, seen[systemID])
		}
		answer, err := next.RoundTrip(r)
		if err != nil || answer.StatusCode != http.StatusOK || asksFor(r) != "GET machines/" {
			return answer, err
		}
		var machines []map[string]any
		if err := decode(answer, &machines); err != nil {
			return nil, err
		}
		for _, m := range machines {
			seen[m["system_id"].(string)] = m
		}
		return answer, nil
	})
}

// comparesDNSWithAMemory reads the records once.
func comparesDNSWithAMemory(next http.RoundTripper) http.RoundTripper {
	known := ""
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		isRead := asksFor(r) == "GET dnsresources/"
		if isRead && strings.Contains(known, host) {
			return answers(r, known), nil
		}
		answer, err := next.RoundTrip(r)
		if err == nil && isRead {
			known, err = bodyOf(answer)
		}
		return answer, err
	})
}

// isClaimLookup says that a request lists the machines that carry a claim.
func isClaimLookup(r *http.Request) bool {
	return asksFor(r) == "GET machines/" && r.URL.Query().Has("agent_name")
}

// neverLooksForTheClaim takes it that no machine carries the claim.
func neverLooksForTheClaim(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if isClaimLookup(r) {
			return answers(r, "[]"), nil
		}
		return next.RoundTrip(r)
	})
}

// looksForTheClaimInVain asks, and does not mind the answer.
func looksForTheClaimInVain(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if err != nil || !isClaimLookup(r) {
			return answer, err
		}
		_ = answer.Body.Close()
		return answers(r, "[]"), nil
	})
}

// looksForAnyClaim lists all machines where it means those with the claim.
func looksForAnyClaim(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if isClaimLookup(r) {
			r = r.Clone(r.Context())
			query := r.URL.Query()
			query.Del("agent_name")
			r.URL.RawQuery = query.Encode()
		}
		return next.RoundTrip(r)
	})
}

// repeatsPosts asks once more where the outcome is unknown.
func repeatsPosts(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPost {
			return next.RoundTrip(r)
		}
		form := formOf(r)
		answer, err := next.RoundTrip(r)
		if err == nil && answer.StatusCode < http.StatusInternalServerError {
			return answer, nil
		}
		if err == nil {
			_ = answer.Body.Close()
		}
		return next.RoundTrip(sends(r, form))
	})
}

// neverMarks does not write on a machine whose it is.
func neverMarks(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		systemID, is := ofMachine(r, http.MethodPost, "set_workload_annotations")
		if !is {
			return next.RoundTrip(r)
		}
		machine := map[string]any{}
		if err := reads(next, r, "machines/"+systemID+"/", &machine); err != nil {
			return nil, err
		}
		marks := map[string]any{}
		for key := range formOf(r) {
			marks[key] = formOf(r).Get(key)
		}
		machine["workload_annotations"] = marks
		return answersWith(r, machine)
	})
}

// releasesBeforeItLeavesDNS takes the last address out of a record only once the machine is released.
func releasesBeforeItLeavesDNS(next http.RoundTripper) http.RoundTripper {
	var later *http.Request
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.HasPrefix(asksFor(r), "PUT dnsresources/") {
			if form := formOf(r); strings.TrimSpace(form.Get("ip_addresses")) == "" {
				later = sends(r, form)
				id := strings.Trim(strings.TrimPrefix(asksFor(r), "PUT dnsresources/"), "/")
				return answers(r, `{"id":`+id+`,"fqdn":"`+host+`","ip_addresses":[],"resource_records":[]}`), nil
			}
		}
		answer, err := next.RoundTrip(r)
		if _, is := ofMachine(r, http.MethodPost, "release"); is && later != nil {
			if left, err := next.RoundTrip(later.WithContext(r.Context())); err == nil {
				_ = left.Body.Close()
			}
			later = nil
		}
		return answer, err
	})
}

// takesAnAcceptedReleaseForDone shows a machine as free once MAAS took up its release.
func takesAnAcceptedReleaseForDone(next http.RoundTripper) http.RoundTripper {
	accepted := map[string]bool{}
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if err != nil || answer.StatusCode != http.StatusOK {
			return answer, err
		}
		if systemID, is := ofMachine(r, http.MethodPost, "release"); is {
			accepted[systemID] = true
		}
		systemID, is := ofMachine(r, http.MethodGet, "")
		if !is || !accepted[systemID] {
			return answer, nil
		}
		machine := map[string]any{}
		if err := decode(answer, &machine); err != nil {
			return nil, err
		}
		machine["status"], machine["status_name"], machine["owner"] = 4, "Ready", nil
		return answersWith(r, machine)
	})
}

// neverTags does not put a tag on the machine that failed.
func neverTags(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.HasPrefix(asksFor(r), "POST tags/") && r.URL.Query().Get("op") == "update_nodes" && formOf(r).Has("add") {
			return answers(r, `{"added":1,"removed":0}`), nil
		}
		return next.RoundTrip(r)
	})
}

// reads asks MAAS for something with the credentials of another request.
func reads(next http.RoundTripper, with *http.Request, path string, into any) error {
	r := with.Clone(with.Context())
	base, _, _ := strings.Cut(r.URL.Path, "/api/2.0/")
	r.Method, r.URL.Path, r.URL.RawQuery, r.Body, r.ContentLength, r.GetBody = http.MethodGet, base+"/api/2.0/"+path, "", nil, 0, nil
	answer, err := next.RoundTrip(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return decode(answer, into)
}

func decode(answer *http.Response, into any) error {
	body, err := bodyOf(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(body), into)
}

func answersWith(r *http.Request, value any) (*http.Response, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return answers(r, string(body)), nil
}
