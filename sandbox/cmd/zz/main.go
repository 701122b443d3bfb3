package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/sandbox/roots"
)

func main() {
	for _, f := range os.Args[2:] {
		in, _ := os.Open(f)
		h := sha256.New()
		io.Copy(h, in)
		in.Close()
		begin := time.Now()
		ctx, c := context.WithTimeout(context.Background(), 60*time.Second)
		root, err := roots.New(os.Args[1]).Get(ctx, f, hex.EncodeToString(h.Sum(nil)), func(int64, int64) {})
		c()
		s := fmt.Sprint(err)
		if len(s) > 300 {
			s = s[:200] + " ... " + s[len(s)-100:]
		}
		fmt.Println(f, time.Since(begin).Round(time.Millisecond), root != "", s)
	}
}
