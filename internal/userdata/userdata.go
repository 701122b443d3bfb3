// Package userdata knows what a machine that MAAS deploys can do with user data. It reads the data, and never repeats any of it.
package userdata

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxRequest is how large a request MAAS takes, in bytes: its nginx refuses more with 413. MAAS 3.3 to 3.7.
const MaxRequest = 10 << 20

// besides is what a request to deploy holds beside the user data, at most: the image, a comment, our claim.
const besides = 4 << 10

// RequestSize is how large a request to deploy with this user data is, in bytes, at most: MAAS gets it in base64, as a field of a form, in
// which three characters of base64 take three bytes each.
func RequestSize(data []byte) int {
	encoded := base64.StdEncoding.EncodeToString(data)
	long := strings.Count(encoded, "+") + strings.Count(encoded, "/") + strings.Count(encoded, "=")
	return len(encoded) + 2*long + besides
}

// maxUnpacked bounds what is read of data that is packed.
const maxUnpacked = 16 << 20

// Unpack returns the data as cloud-init reads it, which unpacks gzip. It is false where that cannot be unpacked, or is larger than 16 MiB then.
func Unpack(data []byte) ([]byte, bool) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, true
	}
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, false
	}
	unpacked, err := io.ReadAll(io.LimitReader(reader, maxUnpacked+1))
	return unpacked, err == nil && len(unpacked) <= maxUnpacked
}

// IsIgnition says whether the data is an Ignition config: JSON with a field of that name.
func IsIgnition(data []byte) bool {
	var config struct {
		Ignition json.RawMessage `json:"ignition"`
	}
	return json.Unmarshal(data, &config) == nil && config.Ignition != nil
}

// Fault says why cloud-init can make nothing of the data, as a sentence without its subject; "" if it can. Cloud-init would start the machine all
// the same, and the machine would not join.
func Fault(data []byte) string {
	data, ok := Unpack(data)
	switch {
	case !ok:
		return "is packed with gzip, and cannot be unpacked"
	case len(bytes.TrimSpace(data)) == 0:
		return "is empty"
	case bytes.ContainsRune(data, 0) || !utf8.Valid(data):
		return "is binary, and cloud-init reads UTF-8 text"
	case isMIME(data):
		return ""
	}
	return textFault(string(data))
}

// isMIME: cloud-init looks for this field in the first 4096 bytes.
func isMIME(data []byte) bool {
	return bytes.Contains(bytes.ToLower(data[:min(len(data), 4096)]), []byte("mime-version:"))
}

// textFault judges one part, which cloud-init knows by its beginning, in any case and after any space.
func textFault(text string) string {
	if strings.HasPrefix(text, "\ufeff") {
		return "begins with a byte order mark, behind which cloud-init finds nothing"
	}
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	first, rest, _ := strings.Cut(text, "\n")
	first = strings.ToLower(first)
	switch {
	case strings.HasPrefix(first, "## template: jinja"):
		if rest = strings.TrimLeftFunc(rest, unicode.IsSpace); strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "{%") || strings.HasPrefix(rest, "{#") {
			return "" // what it begins with is known on the machine alone
		}
		if strings.HasPrefix(strings.ToLower(rest), "## template: jinja") {
			return "is a template of a template"
		}
		return textFault(rest)
	case strings.HasPrefix(first, "#!") && strings.HasSuffix(first, "\r"):
		return "is a script with line ends of Windows, which Linux does not run"
	}
	for _, mark := range marks() {
		if strings.HasPrefix(first, mark) {
			return ""
		}
	}
	return "begins with nothing that cloud-init knows, such as #cloud-config or #!"
}

// marks are those of cloud-init 20 to 25.
func marks() []string {
	return []string{"#!", "#cloud-config", "#include", "#cloud-boothook", "#part-handler", "#upstart-job"}
}
