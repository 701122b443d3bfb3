package check

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/images/archive"
)

// fileCheck is the name of the check of the file as a whole.
const fileCheck = "checksum"

// checkFile compares the file with its manifest: what was checked here must be what is uploaded.
func (s *session) checkFile(ctx context.Context) error {
	start := time.Now()
	detail, err := s.compareSum(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.add(result("file", fileCheck, "the file is the one that its manifest describes", detail, time.Since(start), err))
	return nil
}

func (s *session) compareSum(ctx context.Context) (string, error) {
	again := fmt.Sprintf("remove %s, and make it again: `make image`", s.Image)
	f, err := os.Open(s.Image)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, readerOf(ctx, f))
	if err != nil {
		return "", err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != s.manifest.SHA256 || size != s.manifest.Size {
		return "", problemf(again, "%d bytes with sha256 %s, and the manifest says %d bytes with sha256 %s", size, got, s.manifest.Size, s.manifest.SHA256)
	}
	return fmt.Sprintf("%d MB, sha256 %s…", size/1e6, s.manifest.SHA256[:12]), nil
}

// readerOf ends with ctx.
func readerOf(ctx context.Context, r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// unpack brings the image into the scratch folder, once.
func (s *session) unpack(ctx context.Context) error {
	if s.unpacked {
		return nil
	}
	var told time.Time
	progress := func(done int64) {
		if time.Since(told) > progressEvery {
			if !told.IsZero() {
				s.say("  … unpacking: %d of %d MB read", done/1e6, s.manifest.Size/1e6)
			}
			told = time.Now()
		}
	}
	if err := archive.Unpack(ctx, s.Image, s.root(), progress); err != nil {
		return err
	}
	s.unpacked = true
	return nil
}

// progressEvery is how often something that lasts says how far it is.
const progressEvery = 10 * time.Second
