package simulator

import (
	"net/http"
	"slices"
)

// storageLayouts are what MAAS can divide disks by.
func storageLayouts() []string {
	return []string{"bcache", "blank", "custom", "flat", "lvm", "vmfs6", "vmfs7"}
}

// setStorageLayout says how a machine's disks shall be divided.
func setStorageLayout(c *call) (*answer, *refusal) {
	m := c.machine
	if m.status != StatusReady {
		return nil, conflict("Cannot change the storage layout on a machine that is not Ready.")
	}
	layout := c.form.get("storage_layout")
	switch {
	case layout == "":
		return nil, missing("storage_layout")
	case !slices.Contains(storageLayouts(), layout):
		return nil, invalid("storage_layout", notOneOf(layout, "storage layout", storageLayouts()))
	case len(m.disks) == 0:
		return nil, text(http.StatusBadRequest, "Machine is missing a boot disk; no storage layout can be applied.")
	}
	return ok(c.render(m))
}

// restoreDefaultConfiguration would make networking and storage anew from what
// commissioning found. No machine here keeps that, as none does in the
// recordings.
func restoreDefaultConfiguration(c *call) (*answer, *refusal) {
	if !c.machine.status.in(StatusReady, StatusFailedTesting) {
		return nil, conflict("Machine must be in a ready or failed testing state to restore default networking and storage configuration.")
	}
	return nil, text(http.StatusInternalServerError, "No resources found from commissioning output")
}
