package simulator

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
)

// stagedChunk is a chunk that is stored, and what its content is like with it.
// It counts once a transaction takes it.
type stagedChunk struct {
	store  *imageStore
	of     int   // ID of the content
	begin  int64 // where in the content the chunk is
	end    int64
	sum    string // checksum of all up to the end
	digest []byte // the checksum's state, to go on with
	path   string // of the incomplete file
	began  bool   // the file was made for this chunk
	err    error
	taken  bool
}

// stage stores a chunk of content and goes on with its checksum.
func (s *imageStore) stage(to content, chunk []byte) *stagedChunk {
	out := &stagedChunk{store: s, of: to.id, begin: to.done, end: to.done + int64(len(chunk)), began: to.partial == ""}
	if out.sum, out.digest, out.err = extendHash(to.digest, chunk); out.err == nil {
		out.path, out.err = s.write(to.partial, to.done, chunk)
	}
	return out
}

// fits says that the chunk comes next.
func (s *stagedChunk) fits(to *content) bool { return s.of == to.id && s.begin == to.done }

// discard removes what a chunk began that no transaction took. What it added to
// a file that was there is overwritten by the next.
func (s *stagedChunk) discard() {
	if s.began && !s.taken {
		s.store.drop(s.path)
	}
}

// hashState is what a checksum of the standard library can do.
type hashState interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// extendHash goes on with a SHA-256 from a state, nil for the beginning.
func extendHash(state, chunk []byte) (sum string, after []byte, err error) {
	h := sha256.New()
	resumable, ok := h.(hashState)
	if !ok {
		return "", nil, errors.New("this SHA-256 cannot be resumed")
	}
	if state != nil {
		if err := resumable.UnmarshalBinary(state); err != nil {
			return "", nil, err
		}
	}
	h.Write(chunk) // never fails
	after, err = resumable.MarshalBinary()
	return hex.EncodeToString(h.Sum(nil)), after, err
}
