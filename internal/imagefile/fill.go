package imagefile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

const (
	// completeWithin is how long MAAS may take after the last byte. MAAS 3.5 and newer copy it to all region controllers first.
	completeWithin = 10 * time.Minute
	// noticeWithin is how long it may take to show that a last piece, of which no answer came, arrived all the same.
	noticeWithin = 30 * time.Second
)

var (
	// errPiece marks what MAAS said of a piece of the content.
	errPiece = errors.New("send a piece of the image")
	// errElsewhere means that MAAS would add to what another upload left.
	errElsewhere = errors.New("an upload of the same content, under another name or architecture, is not finished in MAAS: finish that one first, or delete it in MAAS, under Images")
	// errTaken means that what was announced is not there any more, or has become something else.
	errTaken = errors.New("somebody else deleted or replaced the image in MAAS meanwhile")
	// errNotComplete means that MAAS has all of the content, and what is left to do is its own business.
	errNotComplete = errors.New("MAAS has all of the image, but did not say yet that it is complete: look at it again before you upload it anew")
)

// fill sends the content, and returns the boot resource once it is complete.
func (j *job) fill(ctx context.Context, resource *maas.BootResource) (*maas.BootResource, error) {
	content, _ := resource.Content()
	switch {
	case !j.isOurs(*resource):
		return nil, fmt.Errorf("announce the image %s: %w", j.manifest.Name, errTaken)
	case content.Complete:
		// MAAS 3.3 and 3.4 keep each content once.
		return resource, nil
	case content.Progress > 0:
		// The same, with a part of it. What was just announced would stand in the way of the other one.
		if err := j.clear(ctx, resource.ID); err != nil {
			return nil, fmt.Errorf("%w (%w)", errElsewhere, err)
		}
		return nil, errElsewhere
	}
	last, err := j.send(ctx, content.UploadURI)
	switch {
	case err != nil && last && errors.Is(err, maas.ErrOutcomeUnknown) && ctx.Err() == nil:
		complete, waited := j.await(ctx, resource.ID, noticeWithin)
		if errors.Is(waited, errNotComplete) {
			return nil, err
		}
		return complete, waited
	case err != nil:
		return nil, err
	}
	j.filled = true
	return j.await(ctx, resource.ID, completeWithin)
}

// send sends the content piece by piece. Last says that it came to the last one.
func (j *job) send(ctx context.Context, address string) (last bool, err error) {
	total := j.manifest.Size
	atOnce := cmp.Or(j.piece, maas.UploadChunkSize)
	piece := make([]byte, min(total, atOnce))
	sum := sha256.New()
	j.tell(0)
	for sent := int64(0); sent < total; {
		piece = piece[:min(total-sent, atOnce)]
		if _, err := j.image.ReadAt(piece, sent); err != nil {
			return false, fmt.Errorf("%w (%w)", errChanged, err)
		}
		sum.Write(piece)
		last = sent+int64(len(piece)) == total
		if last && !j.isUnchanged(sum) {
			return false, errChanged
		}
		if err := j.sendPiece(ctx, address, piece); err != nil {
			return last, err
		}
		sent += int64(len(piece))
		j.tell(sent)
	}
	return last, nil
}

// sendPiece sends a piece again only if it surely did not arrive.
func (j *job) sendPiece(ctx context.Context, address string, piece []byte) error {
	for wait := 2 * time.Second; ; wait *= 2 {
		err := j.Client.UploadBootResource(ctx, address, piece)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, maas.ErrNotFound):
			return fmt.Errorf("%w (%w: %w)", errTaken, errPiece, err)
		case !errors.Is(err, maas.ErrUnavailable) || wait > 30*time.Second || j.pause(ctx, orAsAsked(wait, err)) != nil:
			return fmt.Errorf("%w: %w", errPiece, err)
		}
	}
}

func (j *job) isUnchanged(sum hash.Hash) bool {
	info, err := j.image.Stat()
	return err == nil && info.Size() == j.manifest.Size && hex.EncodeToString(sum.Sum(nil)) == j.manifest.SHA256
}

func (j *job) tell(sent int64) {
	if j.Sent != nil {
		j.Sent(sent, j.manifest.Size)
	}
}

// await reads the boot resource until it is complete. A MAAS that does not answer takes from the patience too.
func (j *job) await(ctx context.Context, id int, patience time.Duration) (*maas.BootResource, error) {
	const interval = 2 * time.Second
	var waited time.Duration
	for first := true; ; first = false {
		asked := time.Now()
		resource, complete, err := j.look(ctx, id)
		waited += time.Since(asked)
		switch {
		case complete:
			return resource, nil
		case err != nil && !errors.Is(err, maas.ErrUnavailable):
			return nil, err
		case err != nil && waited >= patience:
			return nil, fmt.Errorf("%w (%w)", errNotComplete, err)
		case waited >= patience:
			return nil, errNotComplete
		}
		if first && j.filled && j.Waiting != nil {
			j.Waiting()
		}
		if err := j.pause(ctx, interval); err != nil {
			return nil, fmt.Errorf("%w (%w)", errNotComplete, err)
		}
		waited += interval
	}
}

// look reads the boot resource, and says whether MAAS calls our content in it complete.
func (j *job) look(ctx context.Context, id int) (resource *maas.BootResource, complete bool, err error) {
	resource, err = j.Client.BootResource(ctx, id)
	switch {
	case err == nil && j.isOurs(*resource):
		content, _ := resource.Content()
		return resource, content.Complete, nil
	case err == nil, errors.Is(err, maas.ErrNotFound):
		err = errTaken
	}
	return nil, false, fmt.Errorf("look whether the image %s (boot resource %d) is complete: %w", j.manifest.Name, id, err)
}
