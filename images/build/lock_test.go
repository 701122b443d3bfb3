package build

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

func TestALockIsWaitedForAndTheWaitingTold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), ".lock")
	waits := 0
	waiting := func() { waits++ }
	unlock, err := Lock(t.Context(), path, waiting)
	if err != nil || waits > 0 {
		t.Fatalf("waited %d times, %v", waits, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Lock(ctx, path, waiting); !errors.Is(err, context.DeadlineExceeded) || waits != 1 {
		t.Fatalf("told %d times, error %v", waits, err)
	}
	unlock()
	unlock, err = Lock(t.Context(), path, waiting)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
