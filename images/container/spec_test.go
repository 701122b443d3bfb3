package container

import (
	"slices"
	"testing"
)

func TestCapabilitiesAreThoseThatThisHostHasToGive(t *testing.T) {
	t.Parallel()
	all := capabilitiesOf(1<<41 - 1)
	for _, want := range []string{"CAP_CHOWN", "CAP_SYS_ADMIN", "CAP_SYS_RESOURCE", "CAP_CHECKPOINT_RESTORE"} {
		if !slices.Contains(all, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, never := range []string{"CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_TIME"} {
		if slices.Contains(all, never) {
			t.Errorf("%s is given to machines", never)
		}
	}
	// A host without CAP_SYS_RESOURCE, number 24.
	if slices.Contains(capabilitiesOf(0x1fffeffffff), "CAP_SYS_RESOURCE") {
		t.Error("CAP_SYS_RESOURCE is given although the host has it not")
	}
}
