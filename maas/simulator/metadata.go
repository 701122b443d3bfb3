package simulator

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// metadataPrefix is where the metadata service lives.
const metadataPrefix = "/MAAS/metadata/"

// serveMetadata answers what a machine's cloud-init and installer ask. They
// authenticate with the machine's own key.
func (r *Region) serveMetadata(w http.ResponseWriter, req *http.Request) {
	path := strings.TrimPrefix(req.URL.Path, metadataPrefix)
	entry := Request{Time: r.clock.Now(), Method: req.Method, Path: req.URL.Path}
	respond := func(status int, contentType, body string) {
		entry.Status = status
		r.log.add(entry)
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		if req.Method != http.MethodHead {
			_, _ = w.Write([]byte(body)) // the client may be gone
		}
	}
	if path == "" {
		respond(http.StatusOK, typePlain, "2012-03-01\nlatest\n")
		return
	}
	var a metadataAnswer
	refused := r.change(func(t *tx) *refusal {
		key, nonce, refused := t.authenticate(req, params{}, t.arrival())
		if refused != nil {
			return refused
		}
		if key == nil || key.machine == "" {
			return unauthenticated()
		}
		m, ok := t.machines.get(key.machine)
		if !ok {
			return unauthenticated()
		}
		t.spend(nonce)
		entry.User = "machine:" + m.systemID
		a = t.metadata(m, req.Method, path)
		return nil
	})
	if refused != nil {
		entry.Status = refused.status
		r.log.add(entry)
		refused.write(w)
		return
	}
	respond(a.status, a.contentType, a.body)
}

type metadataAnswer struct {
	status            int
	contentType, body string
}

func metadataText(body string) metadataAnswer {
	return metadataAnswer{http.StatusOK, typePlain, body}
}

// metadata answers one path below the service.
func (t *tx) metadata(m *machine, method, path string) metadataAnswer {
	version, rest, _ := strings.Cut(path, "/")
	if version == "status" {
		return metadataAnswer{status: http.StatusNoContent, contentType: typePlain}
	}
	if version != "2012-03-01" && version != "latest" {
		return metadataAnswer{http.StatusNotFound, typePlain, "Unknown metadata version: " + version}
	}
	rest = strings.Trim(rest, "/")
	if method == http.MethodPost {
		// Installer and cloud-init report progress here.
		return metadataText("OK")
	}
	switch rest {
	case "":
		return metadataText("maas-commissioning-scripts\nmaas-scripts\nmeta-data\nuser-data\n")
	case "meta-data":
		return metadataText("instance-id\nlocal-hostname\npublic-keys\nvendor-data\n")
	case "meta-data/instance-id":
		return metadataText(m.systemID)
	case "meta-data/local-hostname":
		return metadataText(t.fqdn(m))
	case "meta-data/public-keys":
		return metadataText("")
	case "meta-data/vendor-data":
		// cloud-init wants a YAML document with a cloud-config in it.
		return metadataText("cloud-init: |\n  #cloud-config\n  {}\n")
	case "user-data":
		return t.serveUserData(m)
	}
	return metadataAnswer{http.StatusNotFound, typePlain, "No such file"}
}

// serveUserData hands out the user data. MAAS takes a machine that asks for it
// for deployed, whether there is any or not.
func (t *tx) serveUserData(m *machine) metadataAnswer {
	t.fetchedUserData(m)
	if !m.hasUserData {
		return metadataAnswer{http.StatusNotFound, typePlain, ""}
	}
	return metadataAnswer{http.StatusOK, typeOctet, string(m.userData)}
}

// decodeUserData takes base64 off once, if what was sent is base64.
func decodeUserData(sent string) []byte {
	packed := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n", r) {
			return -1
		}
		return r
	}, sent)
	if plain, err := base64.StdEncoding.DecodeString(packed); err == nil {
		return plain
	}
	return []byte(sent)
}
