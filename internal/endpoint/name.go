package endpoint

import (
	"crypto/rand"
	"strings"
)

const (
	maxLabel       = 63
	suffixLength   = 6
	tokenLength    = 20
	suffixAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
)

// ChooseHost returns the full name of a new record: one label made of the cluster's name and the suffix, at most 63
// characters long, in domain.
func ChooseHost(cluster, domain, suffix string) string {
	label := sanitise(cluster)
	label = strings.Trim(label[:min(len(label), maxLabel-len(suffix)-1)], "-")
	if label == "" {
		label = "cluster"
	}
	return label + "-" + suffix + "." + strings.ToLower(strings.Trim(domain, "."))
}

// NewSuffix returns the random end of a record's name.
func NewSuffix() string { return random(suffixLength) }

// NewToken returns the random part of a record's mark.
func NewToken() string { return random(tokenLength) }

// sanitise makes a part of a DNS label: lower-case letters, digits and hyphens.
func sanitise(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, name)
}

func random(length int) string {
	text := make([]byte, 0, length)
	var draw [1]byte
	for len(text) < length {
		// crypto/rand never fails: it ends the program where it cannot read.
		_, _ = rand.Read(draw[:])
		// 252 is the largest multiple of 36 in a byte: what lies above would favour the first letters.
		if draw[0] < 252 {
			text = append(text, suffixAlphabet[draw[0]%36])
		}
	}
	return string(text)
}
