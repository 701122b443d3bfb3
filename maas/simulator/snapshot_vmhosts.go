package simulator

// VMHostSnapshot is a VM host, with what its machines have of it.
type VMHostSnapshot struct {
	ID               int      `json:"id"`
	Name             string   `json:"name"`
	Type             string   `json:"type"`
	Zone             string   `json:"zone"`
	Pool             string   `json:"pool"`
	Tags             []string `json:"tags,omitempty"`
	Cores            int      `json:"cores"`
	UsedCores        int      `json:"usedCores"`
	MemoryMiB        int      `json:"memoryMiB"`
	UsedMiB          int      `json:"usedMiB"`
	Machines         []string `json:"machines,omitempty"` // system IDs
	StorageBytes     int64    `json:"storageBytes"`
	UsedStorageBytes int64    `json:"usedStorageBytes"`
}

func (s *state) snapshotVMHost(h *vmHost) VMHostSnapshot {
	used := s.usedOf(h)
	out := VMHostSnapshot{
		ID: h.id, Name: h.name, Type: h.kind, Zone: s.zones.rows[h.zone].name, Pool: s.pools.rows[h.pool].name, Tags: append([]string(nil), h.tags...),
		Cores: h.known.cores, UsedCores: used.Cores, MemoryMiB: h.known.memoryMiB, UsedMiB: used.Memory,
		StorageBytes: h.known.localStorage, UsedStorageBytes: used.LocalStorage,
	}
	for _, m := range s.machines.all() {
		if m.vmHost == h.id {
			out.Machines = append(out.Machines, m.systemID)
		}
	}
	return out
}
