package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// content lists all files of a folder with all that an archive of it would show.
func content(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		must(t, err)
		info, err := entry.Info()
		must(t, err)
		name, _ := filepath.Rel(dir, path)
		line := fmt.Sprintf("%s %s %s", name, info.Mode(), info.ModTime().UTC())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			must(t, err)
			line += fmt.Sprintf(" %x", data)
		}
		all = append(all, line)
		return nil
	}))
	return all
}

func first() *imported {
	return &imported{now: built.Add(time.Hour), order: []string{"base", "proxy", "pause"}}
}

func TestTwoImportsOfTheSameImagesBecomeTheSame(t *testing.T) {
	t.Parallel()
	want := first().make(t)
	must(t, Normalise(want, built))
	for name, other := range map[string]*imported{
		"later":                        {now: built.Add(2 * time.Hour), order: []string{"base", "proxy", "pause"}},
		"layers in another order":      {now: built.Add(time.Hour), order: []string{"pause", "base", "proxy"}},
		"the index not collected":      {now: built.Add(time.Hour), order: []string{"base", "proxy", "pause"}, index: true},
		"written the same, once again": first(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := other.make(t)
			must(t, Normalise(got, built))
			one, two := content(t, want), content(t, got)
			for _, line := range one {
				if !slices.Contains(two, line) {
					t.Errorf("missing or different: %.100s", line)
				}
			}
			if len(one) != len(two) {
				t.Errorf("%d files, want %d", len(two), len(one))
			}
		})
	}
}

func TestNormaliseChangesNothingTheSecondTime(t *testing.T) {
	t.Parallel()
	dir := first().make(t)
	must(t, Normalise(dir, built))
	once := content(t, dir)
	must(t, Normalise(dir, built))
	if !slices.Equal(once, content(t, dir)) {
		t.Error("the second time it changed the folder")
	}
}

func TestSnapshotsStillFitTogether(t *testing.T) {
	t.Parallel()
	i := &imported{now: built.Add(time.Hour), order: []string{"pause", "base", "proxy"}, index: true}
	dir := i.make(t)
	must(t, Normalise(dir, built))
	meta, err := readDatabase(filepath.Join(dir, metadataFolder, "meta.db"))
	must(t, err)
	snapshots, err := readDatabase(filepath.Join(dir, snapshotsFolder, "metadata.db"))
	must(t, err)
	named := meta.at(version, "k8s.io", "snapshots", "overlayfs")
	if len(named.children) != len(layers) || named.sequence != uint64(len(layers)) {
		t.Errorf("%d snapshots and sequence %d", len(named.children), named.sequence)
	}
	for layer, parent := range layers {
		record := named.at(digest(layer))
		behind := snapshots.at(version, "snapshots", string(record.values["name"]))
		id, _ := binary.Uvarint(behind.values["id"])
		program, err := os.ReadFile(filepath.Join(dir, snapshotsFolder, "snapshots", fmt.Sprint(id), "fs", "program"))
		must(t, err)
		if !strings.HasPrefix(string(program), layer) {
			t.Errorf("snapshot of %s has the files of %.5s", layer, program)
		}
		if size, _ := binary.Varint(behind.values["size"]); size != 4096+(int64(len(program))+4095)/4096*4096 {
			t.Errorf("snapshot of %s has size %d", layer, size)
		}
		if inodes, _ := binary.Varint(behind.values["inodes"]); inodes != 2 {
			t.Errorf("snapshot of %s has %d inodes, want a folder and a file", layer, inodes)
		}
		if string(record.at("labels").values["createdat"]) != "a label of that name is no time" {
			t.Errorf("snapshot of %s lost a label", layer)
		}
		if parent == "" {
			continue
		}
		above := named.at(digest(parent))
		parentID, _ := binary.Uvarint(snapshots.at(version, "snapshots", string(above.values["name"])).values["id"])
		if string(behind.values["parent"]) != string(above.values["name"]) {
			t.Errorf("%s lies on %s, not on %s", layer, behind.values["parent"], above.values["name"])
		}
		if got := snapshots.at(version, "parents").values[parentKey(parentID, id)]; string(got) != string(record.values["name"]) {
			t.Errorf("the child of %s is %q", parent, got)
		}
	}
}

func TestAStoreThatLacksSomethingIsRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		spoil func(t *testing.T, i *imported)
		says  string
	}{
		"file of a blob": {func(t *testing.T, i *imported) {
			must(t, os.Remove(i.path(contentFolder, "blobs", "sha256", strings.TrimPrefix(digest("pause"), "sha256:"))))
		}, "blob " + digest("pause")},
		"record of a blob": {func(t *testing.T, i *imported) {
			i.drop(t, i.path(metadataFolder, "meta.db"), digest("pause"), "k8s.io", "content", "blob")
		}, "image registry.k8s.io/pause:3.10: blob " + digest("pause") + " is missing"},
		"snapshot": {func(t *testing.T, i *imported) {
			i.drop(t, i.path(metadataFolder, "meta.db"), digest("base"), "k8s.io", "snapshots", "overlayfs")
		}, "snapshot " + digest("base") + " is missing"},
		"snapshot of the snapshotter": {func(t *testing.T, i *imported) {
			i.drop(t, i.path(snapshotsFolder, "metadata.db"), i.name("base"), "snapshots")
		}, "does not know snapshot " + first().name("base")},
		"folder of a snapshot": {func(t *testing.T, i *imported) {
			must(t, os.RemoveAll(i.path(snapshotsFolder, "snapshots", "1")))
		}, "no such file"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := first()
			dir := i.make(t)
			c.spoil(t, i)
			if err := Normalise(dir, built); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error with %q", err, c.says)
			}
		})
	}
}

func (i *imported) drop(t *testing.T, file, name string, path ...string) {
	t.Helper()
	db, err := bolt.Open(file, 0o600, nil)
	must(t, err)
	defer db.Close()
	must(t, db.Update(func(tx *bolt.Tx) error {
		return record{t, tx.Bucket([]byte(version))}.sub(path...).b.DeleteBucket([]byte(name))
	}))
}

func TestAStoreInUseIsRefused(t *testing.T) {
	t.Parallel()
	i := first()
	dir := i.make(t)
	db, err := bolt.Open(i.path(metadataFolder, "meta.db"), 0o600, nil)
	must(t, err)
	defer db.Close()
	if err := Normalise(dir, built); !errors.Is(err, errInUse) {
		t.Errorf("got %v", err)
	}
}
