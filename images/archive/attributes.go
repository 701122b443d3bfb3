package archive

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ofHost says that an extended attribute means something only on the host that set it. What is left are user attributes,
// capabilities of programs (ping has one), ACLs, and those of overlay layers in a container store that say what a layer hides.
func ofHost(name string) bool {
	space, rest, _ := strings.Cut(name, ".")
	switch space {
	case "user":
	case "trusted":
	case "security":
		// Labels and signatures of security modules follow from the policy and keys of a host.
		return rest != "capability"
	case "system":
		return name != aclAccess && name != aclDefault
	default:
		return true
	}
	// File handles, counters and identities of the file system below; overlayfs does without them in a layer that was copied.
	layer, isLayer := strings.CutPrefix(rest, "overlay.")
	return isLayer && slices.Contains([]string{"origin", "impure", "nlink", "upper", "uuid"}, layer)
}

// readAttributes reads what is to be kept of a file's extended attributes. It does not follow a symbolic link.
func readAttributes(path string) (map[string]string, error) {
	list, err := grow(func(b []byte) (int, error) { return unix.Llistxattr(path, b) })
	if errors.Is(err, unix.ENOTSUP) || len(list) == 0 && err == nil {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing attributes: %w", err)
	}
	attributes := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		if ofHost(name) {
			continue
		}
		value, err := grow(func(b []byte) (int, error) { return unix.Lgetxattr(path, name, b) })
		if err != nil {
			return nil, fmt.Errorf("reading attribute %s: %w", name, err)
		}
		attributes[name] = string(value)
	}
	return attributes, nil
}

// grow calls until the buffer is large enough.
func grow(call func([]byte) (int, error)) ([]byte, error) {
	for size := 1 << 10; ; size *= 4 {
		buffer := make([]byte, size)
		n, err := call(buffer)
		if errors.Is(err, unix.ERANGE) && size < 1<<20 {
			continue
		}
		if err != nil {
			return nil, err
		}
		return buffer[:n], nil
	}
}
