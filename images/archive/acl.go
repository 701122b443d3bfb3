package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os/user"
	"strconv"
	"strings"
)

// The kernel's form of an ACL, version 2 (linux/posix_acl_xattr.h): the version, then for each entry tag, permissions and ID,
// little-endian.
const (
	aclVersion   = 2
	aclEntrySize = 8
	aclNoID      = 0xffffffff
)

// aclTags in the order that the kernel wants.
var aclTags = []struct {
	tag   uint16
	name  string
	hasID bool
}{
	{0x01, "user", false}, {0x02, "user", true}, {0x04, "group", false}, {0x08, "group", true}, {0x10, "mask", false}, {0x20, "other", false},
}

var errACL = errors.New("not a known form of an ACL")

// aclText writes an ACL as tar's records have it: "user::rwx,group::r-x,group:4:r-x,mask::r-x,other::r-x".
func aclText(value []byte) (string, error) {
	if len(value) < 4 || binary.LittleEndian.Uint32(value) != aclVersion || len(value)%aclEntrySize != 4 {
		return "", errACL
	}
	var entries []string
	for entry := value[4:]; len(entry) > 0; entry = entry[aclEntrySize:] {
		text, err := aclEntryText(binary.LittleEndian.Uint16(entry), binary.LittleEndian.Uint16(entry[2:]), binary.LittleEndian.Uint32(entry[4:]))
		if err != nil {
			return "", err
		}
		entries = append(entries, text)
	}
	return strings.Join(entries, ","), nil
}

func aclEntryText(tag, permissions uint16, id uint32) (string, error) {
	for _, known := range aclTags {
		if known.tag != tag {
			continue
		}
		who := ""
		if known.hasID {
			who = strconv.FormatUint(uint64(id), 10)
		}
		letters := []byte("rwx")
		for i := range letters {
			if permissions&(4>>i) == 0 {
				letters[i] = '-'
			}
		}
		return fmt.Sprintf("%s:%s:%s", known.name, who, letters), nil
	}
	return "", errACL
}

// aclValue is the inverse of aclText. It takes also what other programs write: lines instead of commas, a fourth field with the
// numeric ID, and names, which mean what they mean on this host, as they do for tar.
func aclValue(text string) ([]byte, error) {
	value := binary.LittleEndian.AppendUint32(nil, aclVersion)
	for _, entry := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		fields := strings.Split(strings.TrimSpace(entry), ":")
		if len(fields) < 3 {
			return nil, fmt.Errorf("%w: %q", errACL, entry)
		}
		who := fields[1]
		if len(fields) == 4 {
			who = fields[3]
		}
		var err error
		if value, err = appendACLEntry(value, fields[0], who, fields[2]); err != nil {
			return nil, fmt.Errorf("%w: %q", err, entry)
		}
	}
	return value, nil
}

func appendACLEntry(value []byte, name, who, letters string) ([]byte, error) {
	for _, known := range aclTags {
		if known.name != name || known.hasID != (who != "") {
			continue
		}
		id := uint64(aclNoID)
		if known.hasID {
			var err error
			if id, err = aclID(name, who); err != nil {
				return nil, err
			}
		}
		var permissions uint16
		for i, letter := range "rwx" {
			if strings.ContainsRune(letters, letter) {
				permissions |= 4 >> i
			}
		}
		value = binary.LittleEndian.AppendUint16(value, known.tag)
		value = binary.LittleEndian.AppendUint16(value, permissions)
		value = binary.LittleEndian.AppendUint32(value, uint32(id))
		return value, nil
	}
	return nil, errACL
}

func aclID(kind, who string) (uint64, error) {
	if id, err := strconv.ParseUint(who, 10, 32); err == nil {
		return id, nil
	}
	if kind == "group" {
		group, err := user.LookupGroup(who)
		if err != nil {
			return 0, err
		}
		return strconv.ParseUint(group.Gid, 10, 32)
	}
	account, err := user.Lookup(who)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(account.Uid, 10, 32)
}
