package store

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

var built = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// imported builds a folder as containerd leaves it after an import.
type imported struct {
	dir   string
	now   time.Time         // differs in each import
	order []string          // of layers: "base", "proxy on base", "pause"
	ids   map[string]uint64 // of layers, by name
	index bool              // the archive's index is not collected yet
}

// layers of the images below, and what each lies on.
var layers = map[string]string{"base": "", "proxy": "base", "pause": ""}

// imageLayers are the layers of each image.
var imageLayers = map[string][]string{
	"registry.k8s.io/pause:3.10":         {"pause"},
	"registry.k8s.io/kube-scheduler:v1":  {"base"},
	"registry.k8s.io/kube-proxy:v1":      {"base", "proxy"},
	"localhost/capmaas/pod-routes:local": {"base", "proxy"},
}

func digest(name string) string { return fmt.Sprintf("sha256:%x", name) }

func (i *imported) make(t *testing.T) string {
	t.Helper()
	i.dir = t.TempDir()
	i.ids = map[string]uint64{}
	blobs := i.path(contentFolder, "blobs", "sha256")
	for _, dir := range []string{
		i.path(metadataFolder), blobs, i.path(contentFolder, "ingest", "half-done"), i.path(snapshotsFolder, "snapshots", "new-3141592"),
		i.path("io.containerd.grpc.v1.introspection"), i.path("tmpmounts"),
	} {
		must(t, os.MkdirAll(dir, 0o711))
	}
	must(t, os.WriteFile(i.path("io.containerd.grpc.v1.introspection", "uuid"), []byte(i.now.String()), 0o600))
	i.database(t, i.path(metadataFolder, "meta.db"), i.fillMeta)
	i.database(t, i.path(snapshotsFolder, "metadata.db"), i.fillSnapshots)
	return i.dir
}

func (i *imported) path(parts ...string) string {
	return filepath.Join(append([]string{i.dir}, parts...)...)
}

func (i *imported) database(t *testing.T, file string, fill func(*testing.T, *bolt.Bucket)) {
	t.Helper()
	db, err := bolt.Open(file, 0o600, nil)
	must(t, err)
	defer db.Close()
	must(t, db.Update(func(tx *bolt.Tx) error {
		root, err := tx.CreateBucket([]byte(version))
		must(t, err)
		fill(t, root)
		return nil
	}))
}

// record writes a bucket's values.
type record struct {
	t *testing.T
	b *bolt.Bucket
}

func (r record) sub(path ...string) record {
	r.t.Helper()
	for _, name := range path {
		b, err := r.b.CreateBucketIfNotExists([]byte(name))
		must(r.t, err)
		r.b = b
	}
	return r
}

func (r record) set(key string, value []byte) record {
	r.t.Helper()
	must(r.t, r.b.Put([]byte(key), value))
	return r
}

func (r record) times(now time.Time) record {
	value, err := now.MarshalBinary()
	must(r.t, err)
	return r.set("createdat", value).set("updatedat", value)
}

func (r record) sequence(n uint64) { must(r.t, r.b.SetSequence(n)) }

func (i *imported) blob(namespace record, name string, labels map[string]string) {
	path := i.path(contentFolder, "blobs", "sha256", strings.TrimPrefix(digest(name), "sha256:"))
	must(namespace.t, os.WriteFile(path, []byte(name), 0o444))
	blob := namespace.sub("content", "blob", digest(name)).times(i.now).set("size", binary.AppendVarint(nil, int64(len(name))))
	for label, target := range labels {
		blob.sub("labels").set(label, []byte(target))
	}
}

// name is how the snapshotter knows a layer's snapshot; there was another try before each, so numbers have gaps.
func (i *imported) name(layer string) string {
	return fmt.Sprintf("k8s.io/%d/%s", 2*slices.Index(i.order, layer)+1, digest(layer))
}

func (i *imported) fillMeta(t *testing.T, root *bolt.Bucket) {
	namespace := record{t, root}.set("version", []byte{8}).sub("k8s.io")
	manifests := map[string]string{}
	for image, of := range imageLayers {
		namespace.sub("images", image).times(i.now).sub("target").set("digest", []byte(digest(image))).set("mediatype", []byte("manifest"))
		labels := map[string]string{"containerd.io/gc.ref.content.config": digest(image + " config")}
		for n, layer := range of {
			labels[fmt.Sprintf("containerd.io/gc.ref.content.l.%d", n)] = digest(layer)
		}
		i.blob(namespace, image, labels)
		i.blob(namespace, image+" config", map[string]string{"containerd.io/gc.ref.snapshot.overlayfs": digest(of[len(of)-1])})
		manifests["containerd.io/gc.ref.content.m."+image] = digest(image)
	}
	if i.index {
		i.blob(namespace, "index", manifests)
	}
	for _, layer := range i.order {
		i.blob(namespace, layer, map[string]string{"containerd.io/uncompressed": digest(layer)})
		snapshot := namespace.sub("snapshots", "overlayfs", digest(layer)).times(i.now).set("name", []byte(i.name(layer)))
		snapshot.sub("labels").set("createdat", []byte("a label of that name is no time"))
		if parent := layers[layer]; parent != "" {
			snapshot.set("parent", []byte(digest(parent)))
			namespace.sub("snapshots", "overlayfs", digest(parent), "children").set(digest(layer), nil)
		}
	}
	namespace.sub("snapshots", "overlayfs").sequence(uint64(2 * len(i.order)))
	namespace.sub("leases", "a-lease").times(i.now)
	namespace.sub("content", "ingests", "half-done").set("ref", []byte("k8s.io/1/half-done"))
}

func (i *imported) fillSnapshots(t *testing.T, root *bolt.Bucket) {
	snapshots := record{t, root}.sub("snapshots")
	for n, layer := range i.order {
		id := uint64(n + 1)
		i.ids[layer] = id
		r := snapshots.sub(i.name(layer)).times(i.now).set("id", binary.AppendUvarint(nil, id)).set("kind", []byte{committed})
		r.set("inodes", binary.AppendVarint(nil, 7)).set("size", binary.AppendVarint(nil, i.now.Unix()))
		if parent := layers[layer]; parent != "" {
			r.set("parent", []byte(i.name(parent)))
			record{t, root}.sub("parents").set(parentKey(i.ids[parent], id), []byte(i.name(layer)))
		}
		dir := i.path(snapshotsFolder, "snapshots", fmt.Sprint(id))
		must(t, os.MkdirAll(filepath.Join(dir, "fs"), 0o755))
		must(t, os.MkdirAll(filepath.Join(dir, "work", "work"), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, "fs", "program"), []byte(strings.Repeat(layer, 1000)), 0o755))
		must(t, os.Link(filepath.Join(dir, "fs", "program"), filepath.Join(dir, "fs", "same-program")))
	}
	snapshots.sequence(uint64(len(i.order)))
}
