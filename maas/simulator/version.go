package simulator

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
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

// release is a MAAS version as three numbers.
type release struct{ major, minor, patch int }

// latestReleases are the versions that can be imitated, by series, each with
// the newest release whose answers are known.
func latestReleases() []release {
	return []release{{3, 3, 9}, {3, 4, 10}, {3, 5, 13}, {3, 6, 5}, {3, 7, 3}}
}

func (v release) String() string { return fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch) }

// parseRelease reads "3.6.4", or "3.6" for the newest release of that series;
// empty is the newest of all.
func parseRelease(text string) (release, error) {
	known := latestReleases()
	if text == "" {
		return known[len(known)-1], nil
	}
	parts := regexp.MustCompile(`^(\d+)\.(\d+)(?:\.(\d+))?$`).FindStringSubmatch(text)
	if parts == nil {
		return release{}, fmt.Errorf("version %q is not like %s", text, known[len(known)-1])
	}
	var v release
	for i, target := range []*int{&v.major, &v.minor, &v.patch} {
		*target, _ = strconv.Atoi(parts[i+1]) // digits, or nothing
	}
	for _, latest := range known {
		if v.major != latest.major || v.minor != latest.minor {
			continue
		}
		if parts[3] == "" {
			return latest, nil
		}
		return v, nil
	}
	first, last := known[0], known[len(known)-1]
	return release{}, fmt.Errorf("version %q: MAAS %d.%d to %d.%d can be imitated", text, first.major, first.minor, last.major, last.minor)
}

// Version is the release that is imitated, such as 3.6.4.
func (r *Region) Version() string { return r.version.String() }

// since says whether the imitated version is at least major.minor.
func (r *Region) since(major, minor int) bool {
	return r.version.major > major || (r.version.major == major && r.version.minor >= minor)
}

// inSeries says whether the imitated version is a release of major.minor, at
// least the one with this patch number.
func (r *Region) inSeries(major, minor, patch int) bool {
	return r.version.major == major && r.version.minor == minor && r.version.patch >= patch
}

// refusesRackd says whether a deploy with install_rackd is refused: the last
// releases of some series do, and 3.5 up to 3.5.13 does not.
func (r *Region) refusesRackd() bool {
	return r.inSeries(3, 4, 10) || r.inSeries(3, 6, 5) || r.inSeries(3, 7, 3)
}

// missesManualPower says whether a deploy of a machine that is switched by hand
// fails, for it has no BMC: MAAS 3.6.0 to 3.7.2.
func (r *Region) missesManualPower() bool { return r.since(3, 6) && !r.inSeries(3, 7, 3) }

// showsEphemeral says whether machines have the key ephemeral_deploy.
func (r *Region) showsEphemeral() bool {
	return r.inSeries(3, 3, 7) || r.inSeries(3, 4, 2) || r.since(3, 5)
}

// showsHWSync says whether machines have the key enable_hw_sync.
func (r *Region) showsHWSync() bool { return r.inSeries(3, 3, 7) || r.since(3, 4) }
