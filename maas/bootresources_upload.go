package maas

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// UploadChunkSize is how many bytes MAAS's own clients send at once. nginx in front of MAAS takes at most 10 MB.
const UploadChunkSize = 4 << 20

// uploadPath is where, below the API's root, MAAS takes the content of a file.
var uploadPath = regexp.MustCompile(`^boot-resources/[0-9]+/upload/[0-9]+/$`)

// UploadBootResource sends the next piece of a file to its [BootResourceFile.UploadURI]. MAAS appends what it gets, and is not told where a
// piece belongs. So after an error of kind [KindOutcomeUnknown] nothing more may be sent: the piece may be there already, and MAAS 3.3 to
// 3.7 do not say so reliably. Delete the boot resource, and begin anew.
// With the last piece MAAS compares the checksum, which takes a while for a large file; a wrong one is of kind [KindInvalid].
func (c *Client) UploadBootResource(ctx context.Context, uploadURI string, piece []byte) error {
	r := write("upload_boot_resource", http.MethodPut, "")
	if len(piece) == 0 {
		return invalid(r.operation, "there is nothing to send")
	}
	path, ok := c.below(uploadURI)
	if !ok || !uploadPath.MatchString(path) {
		return invalid(r.operation, "MAAS gave an upload address that is not one of its API")
	}
	r.path, r.content = path, piece
	return c.do(ctx, r, nil)
}

// below returns the path below the API's root of an address that MAAS gave as a path. What stands before MAAS's own prefix in our base URL,
// as with a reverse proxy, MAAS does not know.
func (c *Client) below(address string) (string, bool) {
	before, path, found := strings.Cut(address, "/"+apiPath)
	base, err := url.Parse(c.base)
	if !found || err != nil || before != "" && !strings.HasPrefix(before, "/") {
		return "", false
	}
	return path, strings.HasSuffix(strings.TrimSuffix(base.Path, "/"+apiPath), before)
}
