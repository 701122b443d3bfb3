package maas

import (
	"bufio"
	"errors"
	"io"
)

// answerBody reads an answer up to a limit, and remembers why it ended early, which a decoder cannot tell from bad JSON.
type answerBody struct {
	from *bufio.Reader
	left int64 // bytes that may still come; below 0 there were too many
	cut  error // the connection's error
}

func newAnswerBody(from io.Reader) *answerBody {
	return &answerBody{from: bufio.NewReader(from), left: maxAnswer}
}

// peek returns the beginning without reading on.
func (b *answerBody) peek() []byte {
	head, err := b.from.Peek(64)
	b.note(err)
	return head
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errShape("it is too large")
	}
	b.note(err)
	return n, err
}

// note keeps the first error, for those after it only tell that the connection is closed.
func (b *answerBody) note(err error) {
	if err != nil && !errors.Is(err, io.EOF) && b.cut == nil {
		b.cut = err
	}
}
