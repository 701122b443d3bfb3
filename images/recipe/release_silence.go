package recipe

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// longestSilence is how long a site may send nothing before it is given up.
const longestSilence = time.Minute

var errSilence = errors.New("nothing came for too long")

// impatient is a transport that gives a request up when nothing of its answer comes for a while. How long all of it takes does not matter.
type impatient struct {
	http.RoundTripper
	longest time.Duration
}

// RoundTrip sends a request. The answer's body watches over itself.
func (t impatient) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	watchdog := time.AfterFunc(t.longest, func() { cancel(errSilence) })
	response, err := t.RoundTripper.RoundTrip(request.WithContext(ctx))
	if err != nil {
		watchdog.Stop()
		err = nameSilence(ctx, err)
		cancel(nil)
		return nil, err
	}
	response.Body = &watchedBody{ReadCloser: response.Body, cancel: cancel, watchdog: watchdog, longest: t.longest,
		name: func(err error) error { return nameSilence(ctx, err) }}
	return response, nil
}

// nameSilence says what ended a request, where that was us.
func nameSilence(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilence) {
		return errSilence
	}
	return err
}

// watchedBody is the body of an answer.
type watchedBody struct {
	io.ReadCloser
	cancel   context.CancelCauseFunc
	watchdog *time.Timer
	longest  time.Duration
	name     func(error) error // says what ended the request
}

func (b *watchedBody) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	if err != nil {
		b.watchdog.Stop()
		if !errors.Is(err, io.EOF) {
			err = b.name(err)
		}
		return n, err
	}
	b.watchdog.Reset(b.longest)
	return n, nil
}

func (b *watchedBody) Close() error {
	b.watchdog.Stop()
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}
