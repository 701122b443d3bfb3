package userdata

import (
	"bytes"
	"regexp"
)

// within is how far behind the beginning of its block a token is looked for, in bytes: an address and some checksums stand between.
const within = 4 << 10

// JoinToken returns the public part of the token with which kubeadm joins a cluster, by which its Secret in kube-system is named; "" if the data
// holds none.
func JoinToken(data []byte) string {
	data, ok := Unpack(data)
	if !ok {
		return ""
	}
	at := bytes.Index(data, []byte("bootstrapToken:"))
	if at < 0 {
		return ""
	}
	block := data[at:min(len(data), at+within)]
	found := regexp.MustCompile(`^bootstrapToken:[ \t]*\r?\n(?:[ \t]+.*\n)*?[ \t]+token: ["']?([a-z0-9]{6})\.[a-z0-9]{16}["']?[ \t]*\r?(?:\n|$)`).FindSubmatch(block)
	if found == nil {
		return ""
	}
	return string(found[1])
}
