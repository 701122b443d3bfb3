package archive

import (
	"encoding/hex"
	"errors"
	"testing"
)

func TestACLsAreWrittenAsTarWritesThem(t *testing.T) {
	t.Parallel()
	const value = "0200000001000700ffffffff02000600e803000004000500ffffffff080005000400000010000700ffffffff20000000ffffffff"
	const text = "user::rwx,user:1000:rw-,group::r-x,group:4:r-x,mask::rwx,other::---"
	bytes, err := hex.DecodeString(value)
	must(t, err)
	if got, err := aclText(bytes); err != nil || got != text {
		t.Errorf("got %s, %v", got, err)
	}
	root := "user:root:rwx"
	if value, err := aclValue(root); err != nil || hex.EncodeToString(value) != "020000000200070000000000" {
		t.Errorf("%q: got %x, %v", root, value, err)
	}
	for _, form := range []string{text, "user::rwx\nuser:joe:rw-:1000\ngroup::r-x\ngroup:somebody:r-x:4\nmask::rwx\nother::---\n"} {
		if got, err := aclValue(form); err != nil || hex.EncodeToString(got) != value {
			t.Errorf("%q: got %x, %v", form, got, err)
		}
	}
}

func TestOtherACLsAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"user", "group:no such group:r-x", "user:no such user:r-x", "nobody::rwx", "mask:4:rwx", "user:99999999999:rwx"} {
		if value, err := aclValue(text); err == nil {
			t.Errorf("%q: got %x", text, value)
		}
	}
	for _, value := range []string{"", "\x03\x00\x00\x00", "\x02\x00\x00\x00\x01", "\x02\x00\x00\x00\x40\x00\x07\x00\xff\xff\xff\xff"} {
		if _, err := aclText([]byte(value)); !errors.Is(err, errACL) {
			t.Errorf("%q: got %v", value, err)
		}
	}
}
