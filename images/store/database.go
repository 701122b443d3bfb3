package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// bucket is a bucket of a bbolt database, in memory: such a database has a few hundred keys.
type bucket struct {
	sequence uint64
	values   map[string][]byte
	children map[string]*bucket
}

func newBucket() *bucket {
	return &bucket{values: map[string][]byte{}, children: map[string]*bucket{}}
}

// at finds a bucket below b. One that is missing is empty, and belongs to nothing.
func (b *bucket) at(path ...string) *bucket {
	for _, name := range path {
		child, ok := b.children[name]
		if !ok {
			return newBucket()
		}
		b = child
	}
	return b
}

// names are the names of the buckets in b, sorted.
func (b *bucket) names() []string { return slices.Sorted(maps.Keys(b.children)) }

func readDatabase(file string) (*bucket, error) {
	db, err := bolt.Open(file, 0, &bolt.Options{ReadOnly: true, Timeout: time.Second})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("reading %s: %w", file, errInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	defer db.Close()
	root := newBucket()
	err = db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			root.children[string(name)] = readBucket(b)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return root, nil
}

func readBucket(from *bolt.Bucket) *bucket {
	b := newBucket()
	b.sequence = from.Sequence()
	cursor := from.Cursor()
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		if value == nil {
			b.children[string(key)] = readBucket(from.Bucket(key))
		} else {
			b.values[string(key)] = bytes.Clone(value)
		}
	}
	return b
}

// writeDatabase puts a new database in the place of file: the same content gives the same bytes.
func writeDatabase(file string, root *bucket) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	temporary := file + ".new"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := fillDatabase(temporary, info.Mode().Perm(), root); err != nil {
		return fmt.Errorf("writing %s: %w", temporary, err)
	}
	return os.Rename(temporary, file)
}

func fillDatabase(file string, mode fs.FileMode, root *bucket) (err error) {
	// A page size of the host's choice would be another difference. The folder is a scratch folder: nothing waits for the disk.
	db, err := bolt.Open(file, mode, &bolt.Options{Timeout: time.Second, PageSize: 4096, NoSync: true, NoGrowSync: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, name := range root.names() {
		if err := fillBucket(db, []string{name}, root.children[name]); err != nil {
			return err
		}
	}
	return db.Sync()
}

// fillBucket writes one bucket in a transaction of its own, then those in it: within a transaction bbolt places sibling buckets in a
// random order.
func fillBucket(db *bolt.DB, path []string, content *bucket) error {
	err := db.Update(func(tx *bolt.Tx) error {
		b, err := makeBucket(tx, path)
		if err != nil {
			return err
		}
		if content.sequence > 0 {
			if err := b.SetSequence(content.sequence); err != nil {
				return err
			}
		}
		b.FillPercent = 1 // Nobody inserts in between.
		for _, key := range slices.Sorted(maps.Keys(content.values)) {
			if err := b.Put([]byte(key), content.values[key]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range content.names() {
		if err := fillBucket(db, append(slices.Clone(path), name), content.children[name]); err != nil {
			return err
		}
	}
	return nil
}

func makeBucket(tx *bolt.Tx, path []string) (*bolt.Bucket, error) {
	b, err := tx.CreateBucketIfNotExists([]byte(path[0]))
	for _, name := range path[1:] {
		if err != nil {
			return nil, err
		}
		b, err = b.CreateBucketIfNotExists([]byte(name))
	}
	return b, err
}
