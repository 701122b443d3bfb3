package simulator

import "strconv"

type filesystemJSON struct {
	FSType       string  `json:"fstype"`
	Label        string  `json:"label"`
	UUID         string  `json:"uuid"`
	MountPoint   string  `json:"mount_point"`
	MountOptions *string `json:"mount_options"`
}

type partitionJSON struct {
	ID          int             `json:"id"`
	SystemID    string          `json:"system_id"`
	DeviceID    int             `json:"device_id"`
	Type        string          `json:"type"`
	UUID        string          `json:"uuid"`
	Path        string          `json:"path"`
	Size        int64           `json:"size"`
	Bootable    bool            `json:"bootable"`
	Tags        []string        `json:"tags"`
	UsedFor     string          `json:"used_for"`
	Filesystem  *filesystemJSON `json:"filesystem"`
	ResourceURI string          `json:"resource_uri"`
}

type diskJSON struct {
	ID                 int             `json:"id"`
	SystemID           string          `json:"system_id"`
	Name               string          `json:"name"`
	Type               string          `json:"type"`
	UUID               *string         `json:"uuid"`
	Path               string          `json:"path"`
	Model              string          `json:"model"`
	Serial             string          `json:"serial"`
	IDPath             *string         `json:"id_path"`
	Size               int64           `json:"size"`
	BlockSize          int             `json:"block_size"`
	AvailableSize      int64           `json:"available_size"`
	UsedSize           int64           `json:"used_size"`
	UsedFor            string          `json:"used_for"`
	Tags               []string        `json:"tags"`
	Filesystem         *filesystemJSON `json:"filesystem"`
	PartitionTableType string          `json:"partition_table_type"`
	FirmwareVersion    *string         `json:"firmware_version"`
	StoragePool        *string         `json:"storage_pool"`
	NUMANode           int             `json:"numa_node"`
	Partitions         []partitionJSON `json:"partitions"`
	ResourceURI        string          `json:"resource_uri"`
}

// renderDisk shows a disk with the flat layout: one partition, mounted at /, but
// for machines that are being released, whose file systems are forgotten.
func renderDisk(m *machine, d disk) diskJSON {
	usedFor, root := "ext4 formatted filesystem mounted at /", &filesystemJSON{FSType: "ext4", Label: "root", UUID: d.partitionUUID, MountPoint: "/"}
	if m.status == StatusReleasing {
		usedFor, root = "Unused", nil
	}
	uri := apiPrefix + "/nodes/" + m.systemID + "/blockdevices/" + strconv.Itoa(d.id) + "/"
	const mib = 1 << 20
	usable := d.size/mib*mib - 6*mib
	return diskJSON{
		ID: d.id, SystemID: m.systemID, Name: d.name, Type: "physical", Path: "/dev/disk/by-dname/" + d.name, Model: d.model, Serial: d.serial,
		Size: d.size, BlockSize: 512, UsedSize: d.size / mib * mib, UsedFor: "GPT partitioned with 1 partition", Tags: d.tags,
		PartitionTableType: "GPT", FirmwareVersion: optional("XCV10120"),
		Partitions: []partitionJSON{{
			ID: d.id, SystemID: m.systemID, DeviceID: d.id, Type: "partition", UUID: d.partitionUUID, Path: "/dev/disk/by-dname/" + d.name + "-part2",
			Size: usable, Tags: []string{}, UsedFor: usedFor, Filesystem: root, ResourceURI: uri + "partition/" + strconv.Itoa(d.id),
		}},
		StoragePool: optional(d.storagePool), ResourceURI: uri,
	}
}
