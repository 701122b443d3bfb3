package simulator

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
)

// splitMultipart returns the name and content of each part.
func splitMultipart(raw []byte, boundary string) ([][2]string, error) {
	reader := multipart.NewReader(bytes.NewReader(raw), boundary)
	var out [][2]string
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		out = append(out, [2]string{part.FormName(), string(content)})
	}
}
