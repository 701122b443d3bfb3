package archive

import (
	"context"
	"io"
	"time"

	"github.com/klauspost/pgzip"
)

const (
	// level is where more work stops to pay. Measured on a Debian with Kubernetes' images, 947 MB, in seconds of one core:
	//
	//	level  1: 359 MB,  8 s      level 7: 310 MB, 23 s
	//	level  5: 319 MB, 14 s      level 8: 307 MB, 36 s
	//	level  6: 315 MB, 14 s      level 9: 305 MB, minutes
	level = 6
	// blockSize is what one core compresses at a time. The output depends on it, so it is fixed.
	blockSize = 1 << 20
)

// compress gives write a writer whose content goes to out as gzip, in blocks that several cores work on. The result depends on level
// and blockSize, not on cores.
func compress(ctx context.Context, out io.Writer, cores int, write func(io.Writer) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	z, err := pgzip.NewWriterLevel(stoppable{out: out, ended: ctx.Err}, level)
	if err != nil {
		return err
	}
	z.ModTime = time.Unix(0, 0)
	if err := z.SetConcurrency(blockSize, cores+1); err != nil {
		return err
	}
	if err := write(z); err != nil {
		// Ends its goroutines; without a trailer, so that nobody takes what is there for a whole.
		cancel()
		z.Reset(io.Discard)
		return err
	}
	if err := z.Close(); err != nil {
		z.Reset(io.Discard)
		return err
	}
	return nil
}

// stoppable is a writer that takes nothing more once its work has ended.
type stoppable struct {
	out   io.Writer
	ended func() error
}

func (s stoppable) Write(b []byte) (int, error) {
	if err := s.ended(); err != nil {
		return 0, err
	}
	return s.out.Write(b)
}
