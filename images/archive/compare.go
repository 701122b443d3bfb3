package archive

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Aspect is in what two archives differ.
type Aspect string

// The aspects of an entry, and its being there at all.
const (
	Added     Aspect = "added"
	Removed   Aspect = "removed"
	Type      Aspect = "type"
	Content   Aspect = "content"
	Link      Aspect = "link"
	Mode      Aspect = "mode"
	Owner     Aspect = "owner"
	Attribute Aspect = "attribute"
	Modified  Aspect = "time"
)

// Difference is one difference of one entry.
type Difference struct {
	Name   string // as in the archive: "./etc/hosts"
	Aspect Aspect
	A, B   string // what each archive has, for people; empty where it has nothing
}

// String is one line: "./etc/hosts: mode 0644 became 0600".
func (d Difference) String() string {
	switch d.Aspect {
	case Added:
		return fmt.Sprintf("%s: added, %s", d.Name, d.B)
	case Removed:
		return fmt.Sprintf("%s: removed, %s", d.Name, d.A)
	}
	return fmt.Sprintf("%s: %s %s became %s", d.Name, d.Aspect, orNothing(d.A), orNothing(d.B))
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// Compare lists what differs between two archives, sorted by name; nothing if they hold the same. Order and compression do not
// count. It reads both at once and keeps checksums, not content. A file that is cut off or was changed is ErrDamaged.
func Compare(ctx context.Context, a, b string) ([]Difference, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type result struct {
		entries map[string]entry
		err     error
	}
	other := make(chan result, 1)
	go func() {
		entries, err := readEntries(ctx, b)
		if err != nil {
			cancel(err)
		}
		other <- result{entries, err}
	}()
	inA, err := readEntries(ctx, a)
	if err != nil {
		cancel(err)
	}
	inB := <-other
	if err != nil || inB.err != nil {
		return nil, context.Cause(ctx)
	}
	return compareEntries(inA, inB.entries), nil
}

// entry is what counts of an entry, in words.
type entry map[Aspect]string

// told is the order in which the aspects of an entry are told.
var told = []Aspect{Type, Link, Content, Mode, Owner, Attribute, Modified}

func compareEntries(a, b map[string]entry) []Difference {
	all := maps.Clone(a)
	maps.Copy(all, b)
	var differences []Difference
	for _, name := range slices.Sorted(maps.Keys(all)) {
		before, inA := a[name]
		after, inB := b[name]
		switch {
		case !inA:
			differences = append(differences, Difference{Name: name, Aspect: Added, B: after[Type]})
		case !inB:
			differences = append(differences, Difference{Name: name, Aspect: Removed, A: before[Type]})
		default:
			for _, aspect := range told {
				if before[aspect] != after[aspect] {
					differences = append(differences, Difference{name, aspect, before[aspect], after[aspect]})
				}
			}
		}
	}
	return differences
}

func readEntries(ctx context.Context, file string) (map[string]entry, error) {
	entries := map[string]entry{}
	buffer, sum := make([]byte, chunk), sha256.New()
	err := eachEntry(ctx, file, nil, func(header *tar.Header, content io.Reader) error {
		e, err := readEntry(header, content, sum, buffer)
		entries[header.Name] = e
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return entries, nil
}

var typeNames = map[byte]string{
	tar.TypeReg: "file", tar.TypeGNUSparse: "file", tar.TypeDir: "folder", tar.TypeSymlink: "symbolic link", tar.TypeLink: "hard link",
	tar.TypeChar: "character device", tar.TypeBlock: "block device", tar.TypeFifo: "pipe",
}

func readEntry(header *tar.Header, content io.Reader, sum hash.Hash, buffer []byte) (entry, error) {
	e := entry{
		Type:      typeNames[header.Typeflag],
		Link:      header.Linkname,
		Mode:      fmt.Sprintf("%04o", header.Mode),
		Owner:     fmt.Sprintf("%d:%d", header.Uid, header.Gid),
		Attribute: attributeWords(header.PAXRecords),
		Modified:  header.ModTime.UTC().Format(time.RFC3339Nano),
	}
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		sum.Reset()
		size, err := io.CopyBuffer(sum, content, buffer)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", header.Name, err)
		}
		e[Content] = fmt.Sprintf("%d bytes (sha256 %s)", size, hex.EncodeToString(sum.Sum(nil))[:12])
	case tar.TypeChar, tar.TypeBlock:
		e[Content] = fmt.Sprintf("device %d:%d", header.Devmajor, header.Devminor)
	}
	return e, nil
}

// attributeWords writes extended attributes and ACLs, as the archive has them.
func attributeWords(records map[string]string) string {
	var words []string
	for record, value := range records {
		if name, ok := strings.CutPrefix(record, attributePrefix); ok && !ofHost(name) {
			words = append(words, name+"="+strconv.Quote(value))
		}
	}
	for _, record := range aclRecords {
		if text, ok := records[record]; ok {
			words = append(words, strings.TrimPrefix(record, "SCHILY.")+"="+text)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}
