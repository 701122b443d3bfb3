package chaos

import (
	"math/rand/v2"
	"time"
)

// dice is the one source of all that is random in a world.
type dice struct {
	*rand.Rand
	source *counting
}

func newDice(seed uint64) dice {
	source := &counting{Source: rand.NewPCG(seed, 0)}
	return dice{rand.New(source), source}
}

// counting counts what is drawn.
type counting struct {
	rand.Source
	drawn int
}

// Uint64 implements rand.Source.
func (c *counting) Uint64() uint64 {
	c.drawn++
	return c.Source.Uint64()
}

// chance is true so many times in a hundred.
func (d dice) chance(percent float64) bool { return d.Float64()*100 < percent }

// between draws a time, with both ends.
func (d dice) between(least, most time.Duration) time.Duration {
	return least + time.Duration(d.Int64N(int64(most-least)+1))
}

// number draws a number, with both ends.
func (d dice) number(least, most int) int { return least + d.IntN(most-least+1) }

// text draws so many letters.
func (d dice) text(length int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	text := make([]byte, length)
	for i := range text {
		text[i] = letters[d.IntN(len(letters))]
	}
	return string(text)
}

// one draws one of several.
func one[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// weighted is something that is drawn as often as it weighs.
type weighted[T any] struct {
	weight int
	value  T
}

func pick[T any](d dice, of []weighted[T]) T {
	sum := 0
	for _, o := range of {
		sum += o.weight
	}
	n := d.IntN(sum)
	for _, o := range of {
		if n -= o.weight; n < 0 {
			return o.value
		}
	}
	return of[0].value
}
