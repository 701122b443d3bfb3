package userdata_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/internal/userdata"
)

// join is how Cluster API writes a worker's.
const join = `## template: jinja
#cloud-config

write_files:
-   path: /run/kubeadm/kubeadm-join-config.yaml
    content: |
      ---
      apiVersion: kubeadm.k8s.io/v1beta4
      discovery:
        bootstrapToken:
          apiServerEndpoint: prod-abc123.maas:6443
          caCertHashes:
          - sha256:0123456789abcdef
          token: abc123.0123456789abcdef
      kind: JoinConfiguration
runcmd:
  - kubeadm join
`

func packed(text string) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return out.Bytes()
}

func TestWhatCloudInitCanUse(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"cloud-config":                "#cloud-config\n{}\n",
		"with line ends of Windows":   "#cloud-config\r\npackages: []\r\n",
		"in capitals, after space":    "\n  #CLOUD-CONFIG\n",
		"Cluster API's template":      join,
		"a template, Windows":         "## template: jinja\r\n#cloud-config\r\n",
		"a template that begins late": "## template: jinja\n{% if v1 %}#cloud-config{% endif %}\n",
		"a script":                    "#!/bin/sh\necho hello\n",
		"an archive":                  "#cloud-config-archive\n- {}\n",
		"MIME":                        "Content-Type: multipart/mixed; boundary=\"x\"\nMIME-Version: 1.0\n\n--x\n",
		"include":                     "#include\nhttps://example.com/x\n",
		"packed":                      string(packed(join)),
	} {
		if fault := userdata.Fault([]byte(data)); fault != "" {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

func TestWhatCloudInitCannotUse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ data, want string }{
		"nothing":                      {"", "is empty"},
		"white space":                  {" \r\n\t", "is empty"},
		"a comment before it":          {"# for workers\n#cloud-config\n", "begins with nothing"},
		"YAML without the mark":        {"write_files: []\n", "begins with nothing"},
		"base64 of it":                 {"I2Nsb3VkLWNvbmZpZwo=", "begins with nothing"},
		"a byte order mark":            {"\ufeff#cloud-config\n", "byte order mark"},
		"a script of Windows":          {"#!/bin/sh\r\necho\r\n", "line ends of Windows"},
		"a template of nothing":        {"## template: jinja\nwrite_files: []\n", "begins with nothing"},
		"a template of a template":     {"## template: jinja\n## template: jinja\n#cloud-config\n", "template of a template"},
		"binary":                       {"\x7fELF\x00\x01", "is binary"},
		"binary behind a mark":         {"#cloud-config\n\xff\xfe", "is binary"},
		"Ignition":                     {`{"ignition":{"version":"3.4.0"}}`, "begins with nothing"},
		"packed, and cut":              {string(packed(join)[:40]), "cannot be unpacked"},
		"packed nonsense":              {"\x1f\x8b nonsense", "cannot be unpacked"},
		"packed twice":                 {string(packed(string(packed(join)))), "is binary"},
		"packed, with another content": {string(packed("hello")), "begins with nothing"},
		"packed far too much":          {string(packed("#cloud-config\n" + strings.Repeat(" ", 17<<20))), "cannot be unpacked"},
	} {
		if fault := userdata.Fault([]byte(test.data)); !strings.Contains(fault, test.want) {
			t.Errorf("%s: %q, want %q", name, fault, test.want)
		}
	}
}

func TestIgnitionIsKnownByItsField(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]bool{
		`{"ignition":{"version":"3.4.0"},"storage":{}}`: true, "\n" + `{"ignition":{}}`: true,
		`{"storage":{}}`: false, "#cloud-config\nignition: {}\n": false, `{"ignition":`: false, "": false, "[]": false,
	} {
		if got := userdata.IsIgnition([]byte(data)); got != want {
			t.Errorf("%q: %v", data, got)
		}
	}
}

func TestJoinTokenIsThatOfDiscovery(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ data, want string }{
		"a worker's":        {join, "abc123"},
		"packed":            {string(packed(join)), "abc123"},
		"Windows":           {strings.ReplaceAll(join, "\n", "\r\n"), "abc123"},
		"quoted":            {"bootstrapToken:\n  token: \"abc123.0123456789abcdef\"\n", "abc123"},
		"of an init":        {"bootstrapTokens:\n- token: abc123.0123456789abcdef\n", ""},
		"of something else": {"  token: abc123.0123456789abcdef\n", ""},
		"a placeholder":     {"bootstrapToken:\n  token: {{ token }}\n", ""},
		"none":              {"#cloud-config\n", ""},
		"not to be read":    {"\x1f\x8b", ""},
	} {
		if got := userdata.JoinToken([]byte(test.data)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func FuzzUserData(f *testing.F) {
	for _, seed := range []string{join, "#!/bin/sh\r\n", string(packed(join)), "## template: jinja\n## template: jinja\n", "\x1f\x8b", `{"ignition":{}}`, "bootstrapToken:\n token: a"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fault := userdata.Fault(data)
		if strings.ContainsAny(fault, "\r\n") || len(fault) > 100 {
			t.Errorf("the fault is no short line: %q", fault)
		}
		if token := userdata.JoinToken(data); token != "" && len(token) != 6 {
			t.Errorf("the token's name is %q", token)
		}
		if size := userdata.RequestSize(data); size <= len(data) {
			t.Errorf("a request of %d bytes for %d", size, len(data))
		}
	})
}
