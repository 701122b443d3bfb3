package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// tuned is a limit that was raised.
type tuned struct {
	Path string `json:"path"`
	Was  int    `json:"was"`
	Set  int    `json:"set"`
}

// RaiseLimit raises the limit, and remembers what it was. RestoreLimits puts it back.
func RaiseLimit(l Layout, limit *LimitError) error {
	// What it was goes to disk first, and as a whole: a crash in between restores a value that was never changed, which is harmless.
	change := tuned{Path: limit.path, Was: limit.Have, Set: limit.Want}
	if before, err := readTuned(l); err == nil && before.Path == change.Path && before.Set == limit.Have {
		// It is raised for the second time.
		change.Was = before.Was
	}
	text, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("remembering a host limit: %w", err)
	}
	temporary := l.tuned() + ".new"
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return fmt.Errorf("remembering a host limit: %w", err)
	}
	if err := os.Rename(temporary, l.tuned()); err != nil {
		return fmt.Errorf("remembering a host limit: %w", err)
	}
	if err := os.WriteFile(limit.path, []byte(strconv.Itoa(limit.Want)), 0o644); err != nil {
		return fmt.Errorf("raising %s: %w", limit.Name, err)
	}
	return nil
}

// RestoreLimits puts raised limits back to what they were. A limit that somebody changed since stays as it is.
func RestoreLimits(l Layout) error {
	limit, err := readTuned(l)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("restoring a host limit: %w", err)
	}
	have, err := readLimit(limit.Path)
	if err != nil {
		return err
	}
	if have == limit.Set {
		if err := os.WriteFile(limit.Path, []byte(strconv.Itoa(limit.Was)), 0o644); err != nil {
			return fmt.Errorf("restoring a host limit: %w", err)
		}
	}
	return os.Remove(l.tuned())
}

func readTuned(l Layout) (tuned, error) {
	var limit tuned
	text, err := os.ReadFile(l.tuned())
	if err != nil {
		return limit, err
	}
	if err := json.Unmarshal(text, &limit); err != nil || limit.Path == "" {
		return limit, fmt.Errorf("%s is damaged", l.tuned())
	}
	return limit, nil
}
