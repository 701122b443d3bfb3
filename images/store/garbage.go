package store

import (
	"fmt"
	"strings"
)

// Labels by which a record keeps others.
const (
	keepsContent  = "containerd.io/gc.ref.content"
	keepsSnapshot = "containerd.io/gc.ref.snapshot." + snapshotterName
)

// version is the bucket that holds all namespaces.
const version = "v1"

// collectGarbage does what containerd would do later: what was under way is over, so its leases and ingests go, and then what no
// image refers to.
func collectGarbage(meta *bucket) error {
	for _, name := range meta.at(version).names() {
		namespace := meta.at(version, name)
		delete(namespace.children, "leases")
		delete(namespace.at("content").children, "ingests")
		for snapshotter := range namespace.at("snapshots").children {
			if snapshotter != snapshotterName {
				return fmt.Errorf("there are snapshots of %s, only those of %s are known here", snapshotter, snapshotterName)
			}
		}
		live := live{namespace: namespace, blobs: map[string]bool{}, snapshots: map[string]bool{}}
		if err := live.mark(); err != nil {
			return fmt.Errorf("namespace %s: %w", name, err)
		}
		live.sweep()
	}
	return nil
}

// live is what the images of a namespace need.
type live struct {
	namespace        *bucket
	blobs, snapshots map[string]bool
}

func (l live) mark() error {
	images := l.namespace.at("images")
	for _, name := range images.names() {
		target := string(images.at(name, "target").values["digest"])
		if err := l.markBlob(target); err != nil {
			return fmt.Errorf("image %s: %w", name, err)
		}
	}
	return nil
}

func (l live) markBlob(digest string) error {
	if l.blobs[digest] {
		return nil
	}
	record, ok := l.namespace.at("content", "blob").children[digest]
	if !ok {
		return fmt.Errorf("blob %s is missing", digest)
	}
	l.blobs[digest] = true
	for label, value := range record.at("labels").values {
		var err error
		switch {
		case hasPrefix(label, keepsContent):
			err = l.markBlob(string(value))
		case hasPrefix(label, keepsSnapshot):
			err = l.markSnapshot(string(value))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hasPrefix says that label is prefix, or goes on with a part of its own: ".config", "/linux".
func hasPrefix(label, prefix string) bool {
	rest, ok := strings.CutPrefix(label, prefix)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '/')
}

func (l live) markSnapshot(key string) error {
	for key != "" && !l.snapshots[key] {
		record, ok := l.namespace.at("snapshots", snapshotterName).children[key]
		if !ok {
			return fmt.Errorf("snapshot %s is missing", key)
		}
		l.snapshots[key] = true
		key = string(record.values["parent"])
	}
	return nil
}

func (l live) sweep() {
	blobs := l.namespace.at("content", "blob").children
	for digest := range blobs {
		if !l.blobs[digest] {
			delete(blobs, digest)
		}
	}
	snapshots := l.namespace.at("snapshots", snapshotterName).children
	for key := range snapshots {
		if !l.snapshots[key] {
			delete(snapshots, key)
		}
	}
	for _, snapshot := range snapshots {
		children := snapshot.at("children").values
		for key := range children {
			if !l.snapshots[key] {
				delete(children, key)
			}
		}
		if len(children) == 0 {
			delete(snapshot.children, "children")
		}
	}
}
