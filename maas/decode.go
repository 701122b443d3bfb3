package maas

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
)

// list calls r and decodes a JSON list. It holds one item at a time beside what it returns, for lists of machines are large.
func list[T any](ctx context.Context, c *Client, r request) ([]T, error) {
	items := []T{}
	err := c.do(ctx, r, func(body io.Reader) error {
		d := json.NewDecoder(body)
		if token, err := d.Token(); err != nil || token != json.Delim('[') {
			return errShape("a list was expected")
		}
		for d.More() {
			var item T
			if err := d.Decode(&item); err != nil {
				return err
			}
			items = append(items, item)
		}
		if _, err := d.Token(); err != nil {
			return err
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return errShape("it goes on after its end")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return items, nil
}

// object calls r and decodes a JSON object.
func object[T any](ctx context.Context, c *Client, r request) (*T, error) {
	item := new(T)
	if err := c.do(ctx, r, whole(func(body []byte) error { return decodeObject(body, item) })); err != nil {
		return nil, err
	}
	return item, nil
}

// whole reads all of an answer before it is decoded.
func whole(decode func([]byte) error) decoder {
	return func(from io.Reader) error {
		body, err := io.ReadAll(from)
		if err != nil {
			return err
		}
		return decode(body)
	}
}

func decodeObject(body []byte, into any) error {
	if body = bytes.TrimSpace(body); len(body) == 0 || body[0] != '{' {
		return errShape("an object was expected")
	}
	return json.Unmarshal(body, into)
}

// errShape is a fixed text about an answer, safe to show.
type errShape string

func (e errShape) Error() string { return string(e) }

// mustHave tells MAAS's answer from another program's JSON.
func mustHave(field, value string) error {
	if value == "" {
		return errShape("it has no " + field)
	}
	return nil
}

// decodeProblem describes a decoding error without quoting the answer.
func decodeProblem(err error) string {
	var shape errShape
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &shape):
		return string(shape)
	case errors.As(err, &kind):
		return "its field " + shorten(flatten(kind.Field), 80) + " has another type"
	}
	return "it is not whole JSON"
}

// number takes an integer, also when it is sent as a float or as null. MAAS sends some sizes as 3221094400.0 (LP 2109708).
type number int64

func (n *number) UnmarshalJSON(data []byte) error {
	var f *float64
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	*n = 0
	if f != nil && math.Abs(*f) < math.MaxInt64 {
		*n = number(*f)
	}
	return nil
}
