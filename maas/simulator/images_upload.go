package simulator

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"hash"
	"net/http"
	"strconv"
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
	i, found := c.imageOfPath()
	if !found {
		return nil, notFound("BootResource")
	}
	id, err := strconv.Atoi(c.vars["file"])
	f, found := c.files.get(id)
	if err != nil || !found {
		return nil, notFound("BootResourceFile")
	}
	chunk, to := c.body.raw, c.contents.rows[f.content]
	switch {
	case c.body.multipart:
		return nil, text(http.StatusInternalServerError, "You cannot access body after reading from request's data stream")
	case len(chunk) == 0:
		return nil, text(http.StatusBadRequest, "Missing data.")
	case !i.uploaded:
		return nil, text(http.StatusForbidden, "Cannot upload to a resource of type: 0.")
	case to.done == to.total:
		return nil, text(http.StatusBadRequest, "Cannot upload to a complete file.")
	case to.done+int64(len(chunk)) > to.total:
		return nil, text(http.StatusBadRequest, "Too much data received.")
	}
	if refused := c.appendChunk(to, chunk); refused != nil {
		return nil, refused
	}
	return &answer{status: http.StatusOK, contentType: typePlain, body: []byte("OK")}, nil
}

// appendChunk stores a chunk and, with the last one, checks and keeps the
// whole.
func (t *tx) appendChunk(to *content, chunk []byte) *refusal {
	broken := func(err error) *refusal { return text(http.StatusInternalServerError, err.Error()) }
	sum, err := resumeHash(to.digest)
	if err != nil {
		return broken(err)
	}
	sum.Write(chunk) // a hash never fails
	partial, err := t.r.store.write(to.partial, to.done, chunk)
	if to.partial == "" {
		t.undo = append(t.undo, func() { t.r.store.drop(partial) })
	}
	if err != nil {
		return broken(err)
	}
	edit(t, to).partial = partial
	to.done += int64(len(chunk))
	if to.done < to.total {
		if to.digest, err = saveHash(sum); err != nil {
			return broken(err)
		}
		return nil
	}
	if hex.EncodeToString(sum.Sum(nil)) != to.sha256 {
		return text(http.StatusBadRequest, "Saved content does not match given SHA256 value.")
	}
	to.partial, to.digest = "", nil
	if err := t.r.store.keep(partial, to.sha256); err != nil {
		return broken(err)
	}
	return nil
}

// resumeHash goes on with a checksum from where a chunk left it.
func resumeHash(state []byte) (hash.Hash, error) {
	sum := sha256.New()
	if state == nil {
		return sum, nil
	}
	if resumable, ok := sum.(encoding.BinaryUnmarshaler); ok {
		if err := resumable.UnmarshalBinary(state); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

func saveHash(sum hash.Hash) ([]byte, error) {
	resumable, ok := sum.(encoding.BinaryMarshaler)
	if !ok {
		return nil, errHashState
	}
	return resumable.MarshalBinary()
}
