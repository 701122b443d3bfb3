package check

import (
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/images/build"
)

func TestAProgramThatFailsIsToldWithItsLastWords(t *testing.T) {
	t.Parallel()
	said, err := output(t.Context(), build.Process(t.Context(), "sh", "-c", "echo one; echo two >&2; exit 3"))
	if err == nil || !strings.Contains(err.Error(), "exit status 3: ") || len(said) != len("one\ntwo\n") {
		t.Errorf("%q, %v", said, err)
	}
	said, err = output(t.Context(), build.Process(t.Context(), "sh", "-c", "echo one; echo two >&2"))
	if err != nil || said != "one\n" {
		t.Errorf("%q, %v", said, err)
	}
}
