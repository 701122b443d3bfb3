package simulator

import (
	"net/http"
)

// uploadPath takes the content of a file, chunk by chunk.
const uploadPath = "/boot-resources/{id}/upload/{file}/"

// uploadImage appends a chunk to a file. The request is the chunk: its whole
// body came in before the transaction began, so that one that is cut off
// changes nothing. Chunks are appended in the order in which they come; MAAS
// has no way to say where one belongs, and so none may be sent twice.
//
// A file is complete when all of its size is there and has the checksum that
// the request to create it named. With the wrong checksum the last chunk is
// refused, as if it had never been sent: what is wrong before it stays, and
// the image has to be created again.
//
// MAAS 3.5: files with one sha256 share one incomplete file, so that two
// uploads of the same content at once spoil each other, and the checksum of
// content that is there already is taken from the old file. Neither happens
// here.
func uploadImage(c *call) (*answer, *refusal) {
	to, refused := c.uploadTarget()
	if refused != nil {
		return nil, refused
	}
	if c.staged == nil || !c.staged.fits(to) {
		c.staged = c.r.store.stage(*to, c.body.raw)
		c.undo = append(c.undo, c.staged.discard)
	}
	if refused := c.append(c.staged, to); refused != nil {
		return nil, refused
	}
	return &answer{status: http.StatusOK, contentType: typePlain, body: []byte("OK")}, nil
}

// uploadTarget finds the content that a chunk is for and says why it cannot be
// taken.
func (c *call) uploadTarget() (*content, *refusal) {
	i, found := c.imageOfPath()
	if !found {
		return nil, notFound("BootResource")
	}
	f, found := numbered(c.files, c.vars["file"])
	if !found {
		return nil, notFound("BootResourceFile")
	}
	size, to := int64(len(c.body.raw)), c.contents.rows[f.content]
	switch {
	case c.body.multipart:
		return nil, text(http.StatusInternalServerError, "You cannot access body after reading from request's data stream")
	case size == 0:
		return nil, text(http.StatusBadRequest, "Missing data.")
	case !i.uploaded:
		return nil, text(http.StatusForbidden, "Cannot upload to a resource of type: 0.")
	case to.done == to.total:
		return nil, text(http.StatusBadRequest, "Cannot upload to a complete file.")
	case to.done+size > to.total:
		return nil, text(http.StatusBadRequest, "Too much data received.")
	}
	return to, nil
}

// append makes a chunk that was stored part of its content.
func (t *tx) append(s *stagedChunk, to *content) *refusal {
	failed := func(err error) *refusal { return text(http.StatusInternalServerError, err.Error()) }
	if s.err != nil {
		return failed(s.err)
	}
	edit(t, to)
	to.done, to.digest, to.partial = s.end, s.digest, s.path
	if to.done == to.total {
		if s.sum != to.sha256 {
			return text(http.StatusBadRequest, "Saved content does not match given SHA256 value.")
		}
		to.digest, to.partial = nil, ""
		if err := t.r.store.keep(s.path, to.sha256); err != nil {
			return failed(err)
		}
	}
	s.taken = true
	return nil
}

// stage stores a chunk ahead of its transaction, so that no other request
// waits for the disk. Nobody who would be refused gets that far. The chunks of
// one file go one after another; the function that is returned ends this one.
func (e *execution) stage() func() {
	to, ok := e.peek()
	if !ok {
		return func() {}
	}
	to.writing.Lock()
	to, ok = e.peek() // an earlier chunk may just have ended
	if !ok {
		return to.writing.Unlock
	}
	staged := e.region.store.stage(to, e.call.body.raw)
	e.call.staged = staged
	return func() {
		staged.discard()
		to.writing.Unlock()
	}
}

// peek returns a copy of the content that the request would add to, if it is
// an upload that is allowed.
func (e *execution) peek() (content, bool) {
	if !e.resource.takesContent() {
		return content{}, false
	}
	r := e.region
	r.mu.Lock()
	defer r.mu.Unlock()
	c := e.call
	c.tx = &tx{state: r.state, r: r}
	defer c.rollback()
	key, _, refused := c.authenticate(e.http, c.form, c.arrived)
	if refused != nil || key == nil {
		return content{}, false
	}
	c.user = key.owner
	op, refused := e.resource.route(e.http.Method, e.op, c.user == nil)
	if refused != nil || c.admit(op.access) != nil {
		return content{}, false
	}
	to, refused := c.uploadTarget()
	if refused != nil {
		return content{}, false
	}
	return *to, true
}
