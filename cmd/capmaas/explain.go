package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

var errInterrupted = errors.New("interrupted")

// explain adds to an error what a person can do about it.
func explain(ctx context.Context, client *maas.Client, err error) error {
	var unfinished *imagefile.UnfinishedError
	var said *maas.Error
	switch {
	case ctx.Err() != nil && errors.As(err, &unfinished):
		// What broke off says nothing then.
		short := *unfinished
		short.Err = errInterrupted
		return &short
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", errInterrupted, err)
	case errors.Is(err, maas.ErrForbidden):
		return fmt.Errorf("%w. Only an administrator may upload images: set MAAS_API_KEY to the key of one", err)
	case errors.Is(err, maas.ErrClocksDiffer):
		return fmt.Errorf("%w. Set the clock of this machine", err)
	case errors.Is(err, maas.ErrUnauthorized):
		return fmt.Errorf("%w. Set MAAS_API_KEY to a key of your user, as its page in MAAS shows under API keys", err)
	case errors.Is(err, maas.ErrUnavailable) && errors.As(err, &said) && said.StatusCode == 0 && unfinished == nil:
		return fmt.Errorf("%w. Look whether MAAS_ENDPOINT is right (%s), MAAS runs, and this machine reaches it", err, client.Endpoint())
	}
	return err
}
