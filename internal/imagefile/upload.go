package imagefile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas"
)

const (
	// tries is how often an upload is begun, the first time included.
	tries = 3
	// refusedTries is how often, if MAAS refuses a piece. Something unfinished that was in the way is gone by then.
	refusedTries = 2
)

// Uploader brings images into a MAAS. All but the client may be left out.
type Uploader struct {
	Client  *maas.Client
	Checked func(done, total int64)                                   // hears how many bytes of the file were read before anything is sent
	Sent    func(sent, total int64)                                   // hears how many bytes MAAS took; fewer than before when it begins anew
	Waiting func()                                                    // hears that MAAS has all bytes, and does not call the image complete yet
	Anew    func(reason error)                                        // hears that the upload begins anew
	Pause   func(ctx context.Context, wait time.Duration) (err error) // waits, unless ctx ends sooner; nil waits in real time

	piece int64 // bytes to send at once; 0 for as many as MAAS's own clients
}

// Result tells what an upload did.
type Result struct {
	Resource maas.BootResource // as MAAS has it now
	SHA256   string            // of the file, in hex
	// AlreadyThere says that MAAS had the content, and nothing was sent.
	AlreadyThere bool
	Replaced     bool // there was another image of this name and architecture, which is gone now
}

// UnfinishedError is an upload that ended early and left something in MAAS.
type UnfinishedError struct {
	ID       int    // of the boot resource
	Name     string // custom/…
	Replaced bool   // it took the place of an image that was there before
	Err      error
}

// Error says what went wrong, what is left, and what to do.
func (e *UnfinishedError) Error() string {
	text := e.Err.Error() + fmt.Sprintf("; in MAAS, the image %s (boot resource %d) is incomplete and cannot be deployed", e.Name, e.ID)
	if e.Replaced {
		text += ", and what it had before is gone"
	}
	return text + ": run the same upload again, which clears it away and begins anew"
}

// Unwrap returns what went wrong.
func (e *UnfinishedError) Unwrap() error { return e.Err }

// Upload sends the file unless MAAS holds the same content; progress, which may be nil, hears how many bytes were sent, of how many.
func Upload(ctx context.Context, client *maas.Client, file string, m Manifest, progress func(sent, total int64)) (Result, error) {
	return Uploader{Client: client, Sent: progress}.Upload(ctx, file, m)
}

// Upload sends the file unless MAAS holds the same content under the name and architecture that the manifest says, and returns when MAAS says
// that the image is complete. Size and checksum may be missing in the manifest; where they are there, the file must have them.
//
// MAAS appends pieces without being told where they belong, so an upload in which one was not answered is begun anew, a few times. One that
// fails for good leaves an image that is not complete, which is an [*UnfinishedError]; the next upload clears it away.
func (u Uploader) Upload(ctx context.Context, file string, m Manifest) (Result, error) {
	if err := m.checkWords(); err != nil {
		return Result{}, fmt.Errorf("the description of %s cannot be used: %w", file, err)
	}
	image, err := openImage(file)
	if err != nil {
		return Result{}, err
	}
	defer image.Close()
	if m, err = m.measured(ctx, image, u.Checked); err != nil {
		return Result{}, err
	}
	j := &job{Uploader: u, manifest: m, image: image}
	for try := 1; ; try++ {
		err := j.once(ctx)
		if err == nil {
			return j.result, nil
		}
		if ctx.Err() != nil || !j.mayBeginAnew(err, try) {
			return Result{}, j.withLeftover(err)
		}
		if u.Anew != nil {
			u.Anew(err)
		}
		if u.pause(ctx, beforeTry(try, err)) != nil {
			return Result{}, j.withLeftover(err)
		}
	}
}

// job is one image on its way.
type job struct {
	Uploader
	manifest Manifest
	image    *os.File

	begun    bool // MAAS was asked to take the image
	created  int  // boot resource that is being filled; 0 for none
	filled   bool // MAAS has all of its content
	replaced bool // it took the place of another image
	result   Result
}

// once tries to bring MAAS from whatever it holds to the image.
func (j *job) once(ctx context.Context) error {
	found, err := j.find(ctx)
	if err != nil {
		return err
	}
	switch {
	case found == nil:
	case j.isThere(*found):
		j.result = Result{Resource: *found, SHA256: j.manifest.SHA256, AlreadyThere: j.created == 0, Replaced: j.replaced}
		return nil
	case j.created != 0 && !j.isOurs(*found):
		return errTaken // what was there before went when MAAS took the announcement
	case found.ID != j.created && hasContent(*found):
		j.replaced = true
	}
	if found != nil && j.isInTheWay(*found) {
		if err := j.clear(ctx, found.ID); err != nil {
			return err
		}
	}
	resource, err := j.create(ctx)
	if err == nil && j.hasOtherBase(*resource) {
		// MAAS 3.5 to 3.7 keep a boot resource's first base image. It is not deleted sooner, lest MAAS refuses what replaces it.
		if err = j.clear(ctx, resource.ID); err == nil {
			resource, err = j.create(ctx)
		}
	}
	if err != nil {
		return err
	}
	if resource, err = j.fill(ctx, resource); err != nil {
		return err
	}
	j.result = Result{Resource: *resource, SHA256: j.manifest.SHA256, Replaced: j.replaced}
	return nil
}

// create announces the image. From its answer on, there is something to clear away.
func (j *job) create(ctx context.Context) (*maas.BootResource, error) {
	m := j.manifest
	j.begun, j.filled = true, false
	resource, err := j.Client.CreateBootResource(ctx, maas.BootResourceParams{
		Name: m.Name, Title: m.Title, Architecture: m.Architecture, BaseImage: m.BaseImage, FileType: m.FileType, Size: m.Size, SHA256: m.SHA256,
	})
	if err != nil {
		return nil, fmt.Errorf("announce the image %s: %w", m.Name, err)
	}
	j.created = resource.ID
	return resource, nil
}

// clear deletes what is not worth keeping.
func (j *job) clear(ctx context.Context, id int) error {
	if err := j.Client.DeleteBootResource(ctx, id); err != nil && !errors.Is(err, maas.ErrNotFound) {
		return fmt.Errorf("delete the incomplete image %s (boot resource %d): %w", j.manifest.Name, id, err)
	}
	j.created = 0
	return nil
}

func (j *job) withLeftover(err error) error {
	switch {
	case errors.Is(err, errTaken):
		return fmt.Errorf("%w: look who does, before you upload it again", err)
	case j.created == 0 || j.filled:
		return err
	}
	return &UnfinishedError{ID: j.created, Name: j.manifest.Name, Replaced: j.replaced, Err: err}
}

// mayBeginAnew says whether another try may succeed where this one failed.
func (j *job) mayBeginAnew(err error, try int) bool {
	switch {
	case !j.begun || errors.Is(err, errChanged) || errors.Is(err, errNotComplete):
		return false
	case errors.Is(err, maas.ErrUnavailable), errors.Is(err, maas.ErrOutcomeUnknown):
		return try < tries
	case errors.Is(err, maas.ErrInvalid), errors.Is(err, maas.ErrNotFound), errors.Is(err, maas.ErrConflict):
		return try < refusedTries && errors.Is(err, errPiece)
	}
	return false
}

// beforeTry is how long to wait before an upload begins anew.
func beforeTry(try int, err error) time.Duration {
	return orAsAsked(time.Duration(try)*5*time.Second, err)
}

// orAsAsked is how long to wait if MAAS did not ask for longer.
func orAsAsked(wait time.Duration, err error) time.Duration {
	var e *maas.Error
	if errors.As(err, &e) {
		return max(wait, min(e.RetryAfter, 2*time.Minute))
	}
	return wait
}

func (u Uploader) pause(ctx context.Context, wait time.Duration) error {
	if u.Pause != nil {
		return u.Pause(ctx, wait)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// bare is a name as MAAS stores it.
func bare(name string) string { return strings.TrimPrefix(name, "custom/") }
