// Package store makes containerd's folder, with images imported and unpacked, the same for the same images.
//
// What differs between two imports, seen with containerd 2.4: the times in both databases; the number of each snapshot, because
// layers are unpacked at the same time; the index of the imported archive, which nothing needs and which is collected sooner or
// later; the identity of the daemon; and the order of the pages in the databases, which bbolt leaves to chance.
package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

const (
	snapshotterName = "overlayfs"
	metadataFolder  = "io.containerd.metadata.v1.bolt"
	contentFolder   = "io.containerd.content.v1.content"
	snapshotsFolder = "io.containerd.snapshotter.v1." + snapshotterName
)

// errInUse is a folder that a containerd works on: it must be stopped first.
var errInUse = errors.New("the database is in use: stop containerd first")

// Normalise makes containerd's root folder reproducible after all images were imported and unpacked (overlayfs snapshotter, default
// content store) and containerd was stopped. Two folders with the same images become the same byte for byte, in whatever order
// the images came:
//   - times of records become at, and so do times of files that are later;
//   - leases, ingests and their files go, and so does all that no image refers to;
//   - snapshots get the numbers 1, 2, … in the order of their names, and their usage is counted by one rule for all file systems;
//   - both databases are written anew in the order of their keys;
//   - folders of other plugins and the daemon's identity go; containerd makes new ones.
//
// A blob or snapshot that an image needs and that is missing is an error. After an error the folder is of no use.
func Normalise(dir string, at time.Time) error {
	if err := normalise(dir, at.UTC().Truncate(time.Second)); err != nil {
		return fmt.Errorf("making the image store %s reproducible: %w", dir, err)
	}
	return nil
}

func normalise(dir string, at time.Time) error {
	metaFile := filepath.Join(dir, metadataFolder, "meta.db")
	snapshotsFile := filepath.Join(dir, snapshotsFolder, "metadata.db")
	meta, err := readDatabase(metaFile)
	if err != nil {
		return err
	}
	snapshots, err := readDatabase(snapshotsFile)
	if err != nil {
		return err
	}
	if err := collectGarbage(meta); err != nil {
		return err
	}
	moves, err := numberSnapshots(meta, snapshots)
	if err != nil {
		return err
	}
	if err := moveSnapshots(filepath.Join(dir, snapshotsFolder, "snapshots"), moves); err != nil {
		return err
	}
	if err := countUsage(filepath.Join(dir, snapshotsFolder, "snapshots"), snapshots); err != nil {
		return err
	}
	if err := keepBlobs(filepath.Join(dir, contentFolder), meta); err != nil {
		return err
	}
	for file, content := range map[string]*bucket{metaFile: meta, snapshotsFile: snapshots} {
		if err := stamp(content, at); err != nil {
			return err
		}
		if err := writeDatabase(file, content); err != nil {
			return err
		}
	}
	if err := removeOthers(dir, metadataFolder, contentFolder, snapshotsFolder); err != nil {
		return err
	}
	return clampTimes(dir, at)
}

// stamp sets the times of all records below b. Maps of labels have keys of their own.
func stamp(b *bucket, at time.Time) error {
	value, err := at.MarshalBinary()
	if err != nil {
		return fmt.Errorf("encoding the time: %w", err)
	}
	for _, key := range []string{"createdat", "updatedat"} {
		if _, ok := b.values[key]; ok {
			b.values[key] = value
		}
	}
	for name, child := range b.children {
		if name == "labels" {
			continue
		}
		if err := stamp(child, at); err != nil {
			return err
		}
	}
	return nil
}
