package simulator

import "strconv"

type resourcesJSON struct {
	Cores        int   `json:"cores"`
	Memory       int   `json:"memory"`
	LocalStorage int64 `json:"local_storage"`
}

type vmHostJSON struct {
	ID               int               `json:"id"`
	Name             string            `json:"name"`
	Tags             []string          `json:"tags"`
	Type             string            `json:"type"`
	Architectures    []string          `json:"architectures"`
	Capabilities     []string          `json:"capabilities"`
	Total            resourcesJSON     `json:"total"`
	Used             resourcesJSON     `json:"used"`
	Available        resourcesJSON     `json:"available"`
	Zone             zoneJSON          `json:"zone"`
	CPUOverCommit    jsonFloat         `json:"cpu_over_commit_ratio"`
	MemoryOverCommit jsonFloat         `json:"memory_over_commit_ratio"`
	StoragePools     []storagePoolJSON `json:"storage_pools"`
	Pool             poolJSON          `json:"pool"`
	Host             hostJSON          `json:"host"`
	MACVLANMode      *string           `json:"default_macvlan_mode"`
	Version          string            `json:"version"`
	ResourceURI      string            `json:"resource_uri"`
}

type storagePoolJSON struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Type      string `json:"type"`
	Path      string `json:"path"`
	Total     int64  `json:"total"`
	Used      int64  `json:"used"`
	Available int64  `json:"available"`
	Default   bool   `json:"default"`
}

// hostJSON is the machine that a VM host runs on; none is known here.
type hostJSON struct {
	SystemID   *string `json:"system_id"`
	Incomplete bool    `json:"__incomplete__"`
}

// podJSON is how a machine names the VM host that it runs on.
type podJSON struct {
	ID          int    `json:"id"`
	Name        string `json:"name"`
	ResourceURI string `json:"resource_uri"`
}

func (s *state) renderVMHost(h *vmHost) vmHostJSON {
	used := s.usedOf(h)
	out := vmHostJSON{
		ID: h.id, Name: h.name, Tags: append([]string{}, h.tags...), Type: h.kind, Architectures: append([]string{}, h.known.architectures...),
		Capabilities: []string{"composable", "dynamic_local_storage", "over_commit", "storage_pools"}, Used: used,
		Total: resourcesJSON{Cores: h.known.cores, Memory: h.known.memoryMiB, LocalStorage: h.known.localStorage}, Zone: renderZone(s.zones.rows[h.zone]),
		CPUOverCommit: jsonFloat(h.cpuRatio), MemoryOverCommit: jsonFloat(h.memRatio), StoragePools: []storagePoolJSON{},
		Pool: renderPool(s.pools.rows[h.pool]), Host: hostJSON{Incomplete: true}, Version: h.known.version,
		ResourceURI: apiPrefix + "/vm-hosts/" + strconv.Itoa(h.id) + "/",
	}
	for _, p := range h.known.pools {
		inUse := s.usedIn(h, p.name)
		out.StoragePools = append(out.StoragePools, storagePoolJSON{p.name, p.name, p.kind, p.path, p.size, inUse, p.size - inUse, p.main})
	}
	out.Available = resourcesJSON{out.Total.Cores - used.Cores, out.Total.Memory - used.Memory, out.Total.LocalStorage - used.LocalStorage}
	return out
}

// renderPod names the VM host of a machine; nil when it has none.
func (s *state) renderPod(m *machine) any {
	h, found := s.vmHosts.get(m.vmHost)
	if !found {
		return nil
	}
	return podJSON{h.id, h.name, apiPrefix + "/pods/" + strconv.Itoa(h.id) + "/"}
}
