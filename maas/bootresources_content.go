package maas

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// BootResourceSet is one version of an image.
type BootResourceSet struct {
	Version  string `json:"version"` // the day, with a counter for the second and later ones of a day: 20260101.1
	Label    string `json:"label"`   // uploaded, or that of the image stream
	Size     int64  `json:"size"`    // bytes, of all files
	Complete bool   `json:"complete"`
	// Files by name. A set that was replaced stays for a while without files.
	Files map[string]BootResourceFile `json:"files"`
}

// BootResourceFile is one file of a set. Sets of uploaded images have one.
type BootResourceFile struct {
	Name     string
	FileType string // such as root-tgz or squashfs
	SHA256   string // in hex
	Size     int64  // bytes it will have
	// Complete says that MAAS has all of it. MAAS 3.5 and newer: every region controller has.
	Complete bool
	// Progress is above 0 once a part has arrived. MAAS 3.5 and newer: percent, over all region controllers. MAAS 3.3 and 3.4: another
	// ratio, of no use.
	Progress float64
	// UploadURI is where [Client.UploadBootResource] sends the content; "" for a file that is complete or was not uploaded.
	UploadURI string
}

// UnmarshalJSON decodes a file and tolerates numbers in any form.
func (f *BootResourceFile) UnmarshalJSON(data []byte) error {
	var w struct {
		Name      string  `json:"filename"`
		FileType  string  `json:"filetype"`
		SHA256    string  `json:"sha256"`
		Size      number  `json:"size"`
		Complete  bool    `json:"complete"`
		Progress  float64 `json:"progress"`
		UploadURI string  `json:"upload_uri"`
	}
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*f = BootResourceFile{w.Name, w.FileType, w.SHA256, int64(w.Size), w.Complete, w.Progress, w.UploadURI}
	return nil
}

// Newest returns the last set that has files. It is false where there is none, as in lists.
func (b BootResource) Newest() (BootResourceSet, bool) {
	var sets []BootResourceSet
	for _, set := range b.Sets {
		if len(set.Files) > 0 {
			sets = append(sets, set)
		}
	}
	if len(sets) == 0 {
		return BootResourceSet{}, false
	}
	return slices.MaxFunc(sets, func(a, b BootResourceSet) int { return compareVersions(a.Version, b.Version) }), true
}

// compareVersions orders 20260101, 20260101.1, 20260101.2, 20260101.10 and 20260102.
func compareVersions(a, b string) int {
	dayA, countA, _ := strings.Cut(a, ".")
	dayB, countB, _ := strings.Cut(b, ".")
	return cmp.Or(cmp.Compare(dayA, dayB), cmp.Compare(counter(countA), counter(countB)), cmp.Compare(a, b))
}

func counter(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// Content returns the one file of the newest set. It is false for an image that has none or several, as synced ones do.
func (b BootResource) Content() (BootResourceFile, bool) {
	set, _ := b.Newest()
	if len(set.Files) != 1 {
		return BootResourceFile{}, false
	}
	for _, file := range set.Files {
		return file, true
	}
	return BootResourceFile{}, false
}
