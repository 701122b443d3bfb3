package simulator

import (
	"encoding/json"
	"net/http"
	"strings"
)

// describePath is where the API says what it has, to everybody and beside all
// of the API's rules. MAAS's command line reads it when somebody logs in.
const describePath = apiPrefix + "/describe/"

type descriptionJSON struct {
	Doc       string         `json:"doc"`
	Hash      string         `json:"hash"`
	Resources []describedAPI `json:"resources"`
}

type describedAPI struct {
	Name string            `json:"name"`
	Anon *describedHandler `json:"anon"`
	Auth *describedHandler `json:"auth"`
}

type describedHandler struct {
	Name    string            `json:"name"`
	Doc     string            `json:"doc"`
	Path    string            `json:"path"`
	URI     string            `json:"uri"`
	Params  []string          `json:"params"`
	Actions []describedAction `json:"actions"`
}

type describedAction struct {
	Name    string  `json:"name"`
	Method  string  `json:"method"`
	Op      *string `json:"op"`
	Restful bool    `json:"restful"`
	Doc     string  `json:"doc"`
}

// describe answers what the region's API has.
func (h *handler) describe(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", typeBareJSON)
	if req.Method == http.MethodHead {
		return
	}
	scheme := "http"
	if req.TLS != nil {
		scheme = "https"
	}
	out := descriptionJSON{Doc: "MAAS API", Hash: apiHash, Resources: []describedAPI{}}
	for _, res := range h.router.resources {
		out.Resources = append(out.Resources, res.describe(scheme+"://"+req.Host))
	}
	// The client may be gone, and these types always encode.
	_ = json.NewEncoder(w).Encode(out)
}

func (res *resource) describe(base string) describedAPI {
	name := ""
	for word := range strings.SplitSeq(res.command, "-") {
		name += strings.ToUpper(word[:1]) + word[1:]
	}
	path := apiPrefix + "/" + strings.ReplaceAll(strings.Join(res.pattern, "/"), "...", "") + "/"
	params := []string{}
	for _, part := range res.pattern {
		if variable, found := strings.CutPrefix(part, "{"); found {
			params = append(params, strings.TrimSuffix(strings.TrimSuffix(variable, "}"), "..."))
		}
	}
	handler := func(title string, wanted func(operation) bool) *describedHandler {
		out := describedHandler{Name: title, Path: path, URI: base + path, Params: params, Actions: []describedAction{}}
		for _, o := range res.operations {
			if wanted(o) {
				out.Actions = append(out.Actions, o.describe())
			}
		}
		if len(out.Actions) == 0 {
			return nil
		}
		return &out
	}
	return describedAPI{
		Name: name + "Handler",
		Anon: handler("Anon"+name+"Handler", func(o operation) bool { return o.access == anyone }),
		Auth: handler(name+"Handler", func(operation) bool { return true }),
	}
}

func (o operation) describe() describedAction {
	out := describedAction{Name: o.op, Method: o.method, Restful: o.op == ""}
	if o.op == "" {
		out.Name = o.verb()
	} else {
		out.Op = &o.op
	}
	return out
}
