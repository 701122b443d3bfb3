package recipe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

// downloader fetches files whose checksums their projects publish, and keeps them.
type downloader struct {
	client *http.Client
	// cache is the folder of what was downloaded: each file as host/path, and its checksum beside it.
	cache string
	// progress hears how many bytes of a file came, of how many; the latter is negative if that is not known.
	progress func(file string, done, total int64)
}

// get returns the path of a file with the checksum that sums publishes for it. One that is there is not asked for again: what a project
// has released does not change.
func (d downloader) get(ctx context.Context, address, sums string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("reading the address of a download: %w", err)
	}
	file := filepath.Join(d.cache, u.Host, filepath.FromSlash(path.Clean("/"+u.Path)))
	if sum, err := os.ReadFile(file + ".sha256"); err == nil {
		if _, got, err := measure(file); err == nil && got == strings.TrimSpace(string(sum)) {
			return file, nil
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	list, err := d.text(ctx, sums)
	if err != nil {
		return "", err
	}
	want, err := checksumIn(list, path.Base(u.Path))
	if err != nil {
		return "", fmt.Errorf("%s: %w", sums, err)
	}
	if err := d.fetch(ctx, u, file, want); err != nil {
		return "", err
	}
	return file, build.ReplaceFile(file+".sha256", []byte(want+"\n"), 0o644)
}

// fetch downloads to a temporary name, and gives the file its own only if it is what was wanted.
func (d downloader) fetch(ctx context.Context, u *url.URL, file, want string) error {
	temporary := file + ".new"
	out, err := os.Create(temporary)
	if err != nil {
		return err
	}
	defer os.Remove(temporary)
	defer out.Close()
	sum := sha256.New()
	report := func(done, total int64) { d.progress(path.Base(u.Path), done, total) }
	if err := d.stream(ctx, u, io.MultiWriter(out, sum), report); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("%s was not kept: its sha256 is %s, and %s publishes %s: something on the way changed it; try again, and if it stays so, ask who runs the mirror or proxy",
			u.Redacted(), got, u.Host, want)
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Rename(temporary, file)
}

// text downloads a short text.
func (d downloader) text(ctx context.Context, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("reading the address of a download: %w", err)
	}
	var text strings.Builder
	err = d.stream(ctx, u, &text, func(int64, int64) {})
	return text.String(), err
}

// stream writes what an address answers.
func (d downloader) stream(ctx context.Context, u *url.URL, to io.Writer, progress func(done, total int64)) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	response, err := d.client.Do(request)
	if err != nil {
		return unreachable(ctx, u, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return refused(u, response)
	}
	var done int64
	buffer := make([]byte, 1<<16)
	for {
		n, err := response.Body.Read(buffer)
		if _, err := to.Write(buffer[:n]); err != nil {
			return err
		}
		done += int64(n)
		progress(done, response.ContentLength)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return unreachable(ctx, u, err)
		}
	}
}

// unreachable says what a person can do where a site does not answer, or stops to.
func unreachable(ctx context.Context, u *url.URL, err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("downloading %s: %w\n%s", u.Redacted(), err, withoutInternet(u.Host))
}

// withoutInternet is what to do where a host cannot be reached.
func withoutInternet(host string) string {
	return fmt.Sprintf("released binaries need a way to %s: through a proxy, set HTTPS_PROXY. Without one, build with BINARIES=source, "+
		"or copy the folder _build/cache/release from a machine that has made the same image", host)
}

// refused says what an answer that is no file means.
func refused(u *url.URL, response *http.Response) error {
	hint := "try again later"
	if response.StatusCode == http.StatusNotFound {
		hint = "is there such a version, and was it released for this architecture?"
	}
	return fmt.Errorf("downloading %s: %s answered %s: %s", u.Redacted(), u.Host, response.Status, hint)
}

// checksumIn finds the sha256 of a file in what a project publishes: the bare sum, or lines of sums and names, signed or not.
func checksumIn(list, file string) (string, error) {
	sum := regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if len(fields) == 0 || len(fields) > 2 || !sum.MatchString(fields[0]) {
			continue
		}
		name := file
		if len(fields) == 2 {
			// Where it was read as binary, sha256sum writes a star before the name.
			name = path.Base(strings.TrimPrefix(fields[1], "*"))
		}
		if name == file {
			return strings.ToLower(fields[0]), nil
		}
	}
	return "", fmt.Errorf("there is no sha256 of %s in it", file)
}
