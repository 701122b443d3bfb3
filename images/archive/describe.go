package archive

import (
	"archive/tar"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// entryName is a path below the root as it stands in an archive: "./etc/hosts", and "./etc/" for a folder.
func entryName(name string, folder bool) string {
	if name == "." {
		return "./"
	}
	if folder {
		name += "/"
	}
	return "./" + name
}

// common is what all kinds of entries have. PAX is asked for, so that what is too long or too large for the oldest form of tar gets
// an extended header, and is never cut.
func common(name string, stat *unix.Stat_t) *tar.Header {
	return &tar.Header{
		Name:    entryName(name, stat.Mode&unix.S_IFMT == unix.S_IFDIR),
		Mode:    int64(stat.Mode & 0o7777),
		Uid:     int(stat.Uid),
		Gid:     int(stat.Gid),
		ModTime: time.Unix(stat.Mtim.Sec, 0),
		Format:  tar.FormatPAX,
	}
}

// describe makes the header of a file that is no hard link to an earlier one.
func describe(path, name string, stat *unix.Stat_t) (*tar.Header, error) {
	header := common(name, stat)
	switch kind := stat.Mode & unix.S_IFMT; kind {
	case unix.S_IFREG:
		header.Typeflag, header.Size = tar.TypeReg, stat.Size
	case unix.S_IFDIR:
		header.Typeflag = tar.TypeDir
	case unix.S_IFLNK:
		target, err := os.Readlink(path)
		if err != nil {
			return nil, err
		}
		header.Typeflag, header.Linkname = tar.TypeSymlink, target
	case unix.S_IFIFO:
		header.Typeflag = tar.TypeFifo
	case unix.S_IFCHR, unix.S_IFBLK:
		header.Typeflag = tar.TypeChar
		if kind == unix.S_IFBLK {
			header.Typeflag = tar.TypeBlock
		}
		header.Devmajor, header.Devminor = int64(unix.Major(stat.Rdev)), int64(unix.Minor(stat.Rdev))
	default:
		return nil, fmt.Errorf("file type %#o is unknown", kind)
	}
	attributes, err := readAttributes(path)
	if err != nil {
		return nil, err
	}
	if header.PAXRecords, err = toRecords(attributes); err != nil {
		return nil, err
	}
	return header, nil
}

const (
	attributePrefix = "SCHILY.xattr."
	aclAccess       = "system.posix_acl_access"
	aclDefault      = "system.posix_acl_default"
)

// aclRecords are the records that hold ACLs. GNU tar does not take them from extended attributes.
var aclRecords = map[string]string{aclAccess: "SCHILY.acl.access", aclDefault: "SCHILY.acl.default"}

func toRecords(attributes map[string]string) (map[string]string, error) {
	if len(attributes) == 0 {
		return nil, nil
	}
	records := map[string]string{}
	for name, value := range attributes {
		record, isACL := aclRecords[name]
		if !isACL {
			records[attributePrefix+name] = value
			continue
		}
		text, err := aclText([]byte(value))
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", name, err)
		}
		records[record] = text
	}
	return records, nil
}

// fromRecords finds the attributes of an entry among its PAX records.
func fromRecords(records map[string]string) (map[string]string, error) {
	var attributes map[string]string
	add := func(name, value string) {
		if attributes == nil {
			attributes = map[string]string{}
		}
		attributes[name] = value
	}
	for record, value := range records {
		if name, ok := strings.CutPrefix(record, attributePrefix); ok && !ofHost(name) {
			add(name, value)
		}
	}
	for name, record := range aclRecords {
		text, ok := records[record]
		if !ok {
			continue
		}
		value, err := aclValue(text)
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", record, err)
		}
		add(name, string(value))
	}
	return attributes, nil
}
