package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// committed is the kind of a snapshot that is complete and never changes (containerd: snapshots.KindCommitted).
const committed = 3

// numberSnapshots gives snapshots their numbers in the order of their names. There are two in each: one in the name by which the
// snapshotter knows it ("k8s.io/4/sha256:…"), and one that names its folder. What the images do not need is dropped. The result
// has the new number of each folder that stays.
func numberSnapshots(meta, snapshots *bucket) (moves map[string]string, err error) {
	renamed, order := renameSnapshots(meta)
	records := snapshots.at(version, "snapshots")
	kept := newBucket()
	kept.sequence = uint64(len(order))
	moves = map[string]string{}
	numbers := map[string]uint64{}
	for i, old := range order {
		record, ok := records.children[old]
		if !ok {
			return nil, fmt.Errorf("the snapshotter does not know snapshot %s", old)
		}
		if kind := record.values["kind"]; len(kind) != 1 || kind[0] != committed {
			return nil, fmt.Errorf("snapshot %s is not complete", old)
		}
		id, n := binary.Uvarint(record.values["id"])
		if n <= 0 {
			return nil, fmt.Errorf("snapshot %s has no number", old)
		}
		number := uint64(i + 1)
		moves[strconv.FormatUint(id, 10)] = strconv.FormatUint(number, 10)
		record.values["id"] = binary.AppendUvarint(nil, number)
		numbers[renamed[old]] = number
		kept.children[renamed[old]] = record
	}
	parents := newBucket()
	for _, name := range kept.names() {
		record := kept.children[name]
		old := string(record.values["parent"])
		if old == "" {
			continue
		}
		parent, ok := renamed[old]
		if !ok {
			return nil, fmt.Errorf("the parent %s of snapshot %s is missing", old, name)
		}
		record.values["parent"] = []byte(parent)
		parents.values[parentKey(numbers[parent], numbers[name])] = []byte(name)
	}
	if len(order) > 0 {
		snapshots.children[version].children = map[string]*bucket{"snapshots": kept, "parents": parents}
	}
	return moves, nil
}

// renameSnapshots gives snapshots new names in the metadata. It returns the new name for each old one, and the old ones in the order
// of the new.
func renameSnapshots(meta *bucket) (renamed map[string]string, order []string) {
	renamed = map[string]string{}
	for _, namespace := range meta.at(version).names() {
		snapshots := meta.at(version, namespace, "snapshots", snapshotterName)
		for i, key := range snapshots.names() {
			record := snapshots.children[key]
			old, name := string(record.values["name"]), fmt.Sprintf("%s/%d/%s", namespace, i+1, key)
			record.values["name"] = []byte(name)
			renamed[old] = name
			order = append(order, old)
		}
		snapshots.sequence = uint64(len(snapshots.children))
	}
	return renamed, order
}

// parentKey is the key by which the snapshotter finds a snapshot's children: both numbers with a zero byte between.
func parentKey(parent, child uint64) string {
	key := append(binary.AppendUvarint(nil, parent), 0)
	return string(binary.AppendUvarint(key, child))
}

// moveSnapshots renames the folders of snapshots and removes those that have no new name.
func moveSnapshots(dir string, moves map[string]string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	const moving = "moving-"
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if number, ok := moves[entry.Name()]; ok {
			// In two steps, because the new name may still be another's old one.
			err = os.Rename(path, filepath.Join(dir, moving+number))
		} else {
			err = os.RemoveAll(path)
		}
		if err != nil {
			return err
		}
	}
	for _, number := range slices.Sorted(maps.Values(moves)) {
		path := filepath.Join(dir, number)
		if err := os.Rename(filepath.Join(dir, moving+number), path); err != nil {
			return err
		}
		// What overlayfs left while it was mounted; the folder itself is never used again.
		if err := emptyFolder(filepath.Join(path, "work")); err != nil {
			return err
		}
	}
	return nil
}

// countUsage sets what each snapshot takes on the disk. containerd counted blocks, of which each file system has its own number; here
// it is what ext4 needs: 4 KiB for a folder, and whole blocks of 4 KiB for a file.
func countUsage(dir string, snapshots *bucket) error {
	for _, record := range snapshots.at(version, "snapshots").children {
		id, _ := binary.Uvarint(record.values["id"])
		inodes, size, err := usage(filepath.Join(dir, strconv.FormatUint(id, 10), "fs"))
		if err != nil {
			return err
		}
		record.values["inodes"] = binary.AppendVarint(nil, inodes)
		record.values["size"] = binary.AppendVarint(nil, size)
	}
	return nil
}

func usage(dir string) (inodes, size int64, err error) {
	const block = 4096
	seen := map[uint64]bool{}
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return errors.New("files have no inode numbers here")
		}
		if seen[stat.Ino] {
			return nil
		}
		seen[stat.Ino] = true
		inodes++
		switch {
		case entry.IsDir():
			size += block
		case entry.Type().IsRegular():
			size += (info.Size() + block - 1) / block * block
		}
		return nil
	})
	return inodes, size, err
}
