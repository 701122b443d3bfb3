package simulator

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
)

// filesOf are the files of one version of an image.
func (s *state) filesOf(i *image, version string) []*imageFile {
	var out []*imageFile
	for _, f := range s.files.all() {
		if f.image == i.id && f.version == version {
			out = append(out, f)
		}
	}
	return out
}

// complete says that all of a file is there.
func (c *content) complete() bool { return c.total > 0 && c.done == c.total }

// setComplete says that a version has files and all of them are complete.
func (s *state) setComplete(i *image, version string) bool {
	files := s.filesOf(i, version)
	return len(files) > 0 && !slices.ContainsFunc(files, func(f *imageFile) bool { return !s.contents.rows[f.content].complete() })
}

// rootOf is what a machine would install from an image: the root file system in
// its newest complete version. ok is false when there is none.
func (s *state) rootOf(i *image) (root *content, ok bool) {
	for _, set := range slices.Backward(i.sets) {
		if !s.setComplete(i, set.version) {
			continue
		}
		for _, f := range s.filesOf(i, set.version) {
			if !strings.HasPrefix(f.filetype, "boot-") {
				return s.contents.rows[f.content], true
			}
		}
	}
	return nil, false
}

// addFile adds a file to a version of an image. MAAS 3.4: a file whose sha256
// is there already shares its content, complete or not; since 3.5 every file
// is uploaded by itself.
func (t *tx) addFile(i *image, version, filename, filetype, sha string, total int64) *imageFile {
	f := &imageFile{id: t.files.nextID(), image: i.id, version: version, filename: filename, filetype: filetype, diskName: t.diskName(sha)}
	shared, found := t.contents.find(func(c *content) bool { return c.sha256 == sha })
	if !found || t.r.since(3, 5) {
		shared = &content{id: t.contents.nextID(), sha256: sha, total: total, writing: &sync.Mutex{}}
		insert(t, t.contents, shared.id, shared)
	}
	f.content = shared.id
	insert(t, t.files, f.id, f)
	return f
}

// shortName is how much of a checksum MAAS uses as a file's name on disk, if
// no other file begins the same.
const shortName = 7

// diskName is the name that MAAS stores a file under, since 3.6.
func (s *state) diskName(sha string) string {
	others := map[string]bool{}
	for _, f := range s.files.all() {
		c := s.contents.rows[f.content]
		if c.sha256 == sha {
			return f.diskName
		}
		others[c.sha256] = true
	}
	taken := func(prefix string) bool {
		for other := range others {
			if strings.HasPrefix(other, prefix) {
				return true
			}
		}
		return false
	}
	for n := shortName; n < len(sha); n++ {
		if !taken(sha[:n]) {
			return sha[:n]
		}
	}
	return sha
}

// dropFiles removes the files of one version. Content that nothing needs any
// more goes once the transaction is committed.
func (t *tx) dropFiles(i *image, version string) {
	for _, f := range t.filesOf(i, version) {
		remove(t, t.files, f.id)
		c := t.contents.rows[f.content]
		if _, used := t.files.find(func(other *imageFile) bool { return other.content == c.id }); used {
			continue
		}
		remove(t, t.contents, c.id)
		t.afterCommit(func(t *tx) *refusal {
			t.r.store.drop(c.partial)
			if c.complete() { // else its checksum is any text that somebody sent
				t.dropUnused(c.sha256)
			}
			return nil
		})
	}
}

// dropUnused removes stored content that no file has any more and no machine
// was deployed with.
func (t *tx) dropUnused(sha string) {
	_, filed := t.contents.find(func(c *content) bool { return c.sha256 == sha && c.complete() })
	_, installed := t.machines.find(func(m *machine) bool { return m.installs.sha256 == sha })
	if sha != "" && !filed && !installed {
		t.r.store.forget(sha)
	}
}

// The version of an image that the configuration made, and the size of its
// files.
const (
	madeUpVersion = "20260101"
	madeUpSize    = 512
)

// addConfigured adds an image that is there from the beginning, complete and
// without content. MAAS has kernel, initrd and root file system of streamed
// images in a file each.
func (t *tx) addConfigured(i *image) {
	label, kinds := "uploaded", []string{"root-tgz"}
	if !i.uploaded {
		label, kinds = "stable", []string{"boot-initrd", "boot-kernel", "squashfs"}
	}
	i.sets = []imageSet{{madeUpVersion, label}}
	insert(t, t.images, i.id, i)
	for _, kind := range kinds {
		sum := sha256.Sum256([]byte(i.name + " " + i.architecture + " " + i.kernel + " " + kind))
		f := t.addFile(i, madeUpVersion, t.r.filename(kind), kind, hex.EncodeToString(sum[:]), madeUpSize)
		c := t.contents.rows[f.content]
		c.done, c.madeUp = madeUpSize, true
	}
}
