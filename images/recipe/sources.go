package recipe

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// sources is the list of package sources that machines have. The build takes its packages from there too, or from this host's mirrors
// of it.
func (r *Recipe) sources() string { return r.data("root", "etc", "apt", "sources.list") }

func (r *Recipe) debianSources() ([]string, error) {
	list, err := os.ReadFile(r.sources())
	if err != nil {
		return nil, fmt.Errorf("finding where Debian's packages come from: %w", err)
	}
	return onMirrors(string(list), hostMirrors()), nil
}

// debianHooks make mmdebstrap keep what it downloads for the next time, and run the scripts in images/debian-12/hooks.
func (r *Recipe) debianHooks() ([]string, error) {
	cache := r.Path("cache", "debian")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	return []string{
		"--skip=download/empty",
		`--setup-hook=mkdir -p "$1/var/cache/apt/archives"; find "$` + packageCache + `" -name "*.deb" -exec cp -t "$1/var/cache/apt/archives" {} +`,
		// Of each package what was installed, so that the folder does not grow for ever.
		`--customize-hook=chroot "$1" apt-get autoclean -qq; find "$` + packageCache + `" -name "*.deb" -delete
			find "$1/var/cache/apt/archives" -name "*.deb" -exec cp -t "$` + packageCache + `" {} +`,
		"--hook-dir=" + r.data("hooks"),
	}, nil
}

// packageCache is the variable that tells mmdebstrap's hooks where packages are kept.
const packageCache = "CAPMAAS_PACKAGE_CACHE"

// mirrors are the addresses of Debian's archives.
type mirrors struct{ main, security string }

// hostMirrors are where a Debian host gets its packages from; empty elsewhere, and where it does not say.
func hostMirrors() mirrors {
	if release, err := os.ReadFile("/etc/os-release"); err != nil || !bytes.Contains(release, []byte("\nID=debian\n")) {
		return mirrors{}
	}
	var lists strings.Builder
	for _, path := range []string{"/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"} {
		// One of the two is there.
		content, _ := os.ReadFile(path)
		lists.Write(content)
		lists.WriteString("\n")
	}
	return mirrorsIn(lists.String())
}

// mirrorsIn finds the first addresses in lists of package sources, in apt's new or old form.
func mirrorsIn(sources string) mirrors {
	var found mirrors
	for line := range strings.Lines(sources) {
		fields := strings.Fields(line)
		if len(fields) < 2 || (fields[0] != "URIs:" && fields[0] != "deb") {
			continue
		}
		for _, field := range fields[1:] {
			if !strings.HasPrefix(field, "http://") && !strings.HasPrefix(field, "https://") {
				continue
			}
			place := &found.main
			if isSecurity(field) {
				place = &found.security
			}
			if *place == "" {
				*place = field
			}
		}
	}
	return found
}

func isSecurity(address string) bool {
	return strings.HasSuffix(strings.TrimRight(address, "/"), "security")
}

// onMirrors gives the sources of a list, one a line as apt has them, with the addresses of mirrors in them.
func onMirrors(list string, m mirrors) []string {
	var sources []string
	for line := range strings.Lines(list) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] != "deb" {
			continue
		}
		if mirror := m.main; isSecurity(fields[1]) {
			if m.security != "" {
				fields[1] = m.security
			}
		} else if mirror != "" {
			fields[1] = mirror
		}
		sources = append(sources, strings.Join(fields, " "))
	}
	return sources
}
