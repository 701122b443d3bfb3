package simulator

import (
	"fmt"
	"math/rand/v2"
)

// draws is a stream of random numbers of the region's seed for one use: what
// others draw changes nothing in it. The use has up to eight letters.
func (c *Config) draws(use string) *rand.Rand {
	var stream uint64
	for _, letter := range []byte(use) {
		stream = stream<<8 | uint64(letter)
	}
	return rand.New(rand.NewPCG(uint64(c.Seed), stream))
}

// systemIDLetters are the characters of MAAS's system IDs.
const systemIDLetters = "346789abcdefghjkmnpqrtwxy"

const keyLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

const hexDigits = "0123456789abcdef"

// drawID draws a text of n characters from letters, from the region's seed.
func (r *Region) drawID(letters string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = letters[r.rand.IntN(len(letters))]
	}
	return string(out)
}

func (r *Region) freeSystemID() string {
	for {
		id := r.drawID(systemIDLetters, 6)
		if _, taken := r.state.machines.get(id); !taken {
			return id
		}
	}
}

// drawUUID draws a UUID from the region's seed.
func (r *Region) drawUUID() string {
	return fmt.Sprintf("%s-%s-4%s-8%s-%s", r.drawID(hexDigits, 8), r.drawID(hexDigits, 4), r.drawID(hexDigits, 3), r.drawID(hexDigits, 3), r.drawID(hexDigits, 12))
}

// petName is a hostname of two words, as MAAS gives machines without one.
func (r *Region) petName() string {
	adjectives := []string{"able", "brave", "calm", "eager", "fair", "glad", "keen", "loyal", "neat", "proud", "quick", "wise"}
	animals := []string{"badger", "crane", "dove", "falcon", "gecko", "heron", "lynx", "mole", "otter", "raven", "seal", "wren"}
	return adjectives[r.rand.IntN(len(adjectives))] + "-" + animals[r.rand.IntN(len(animals))] + "-" + r.drawID("0123456789", 3)
}
