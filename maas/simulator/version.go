package simulator

import (
	"fmt"
	"net/http"
	"strings"
)

// versionOperations are the calls of the version.
func versionOperations() []operation {
	return []operation{
		{http.MethodGet, "/version/", "", anyone, readVersion, ""},
	}
}

// readVersion answers the version to everybody, in one line.
func readVersion(c *call) (*answer, *refusal) {
	capabilities := []string{
		"networks-management", "static-ipaddresses", "ipv6-deployment-ubuntu", "devices-management", "storage-deployment-ubuntu",
		"network-deployment-ubuntu", "bridging-interface-ubuntu", "bridging-automatic-ubuntu", "authenticate-api",
	}
	quoted := make([]string, len(capabilities))
	for i, name := range capabilities {
		quoted[i] = compact(name)
	}
	line := fmt.Sprintf(`{"capabilities": [%s], "version": %s, "subversion": ""}`, strings.Join(quoted, ", "), compact(c.r.cfg.Version))
	return &answer{status: http.StatusOK, contentType: typeJSON, body: []byte(line), public: true}, nil
}

// since says whether the imitated version is at least major.minor.
func (r *Region) since(major, minor int) bool {
	var a, b int
	if _, err := fmt.Sscanf(r.cfg.Version, "%d.%d", &a, &b); err != nil {
		return true
	}
	return a > major || (a == major && b >= minor)
}
