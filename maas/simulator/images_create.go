package simulator

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// uploadType is a kind of file that may be uploaded, and what MAAS calls it
// then.
type uploadType struct{ asked, kind string }

func uploadTypes() []uploadType {
	return []uploadType{
		{"tgz", "root-tgz"}, {"tbz", "root-tbz"}, {"txz", "root-txz"}, {"ddtgz", "root-dd"}, {"ddtbz", "root-dd.tar.bz2"},
		{"ddtxz", "root-dd.tar.xz"}, {"ddtar", "root-dd.tar"}, {"ddbz2", "root-dd.bz2"}, {"ddgz", "root-dd.gz"}, {"ddxz", "root-dd.xz"},
		{"ddraw", "root-dd.raw"},
	}
}

// filename is what MAAS calls an uploaded file: the name of its kind, since
// 3.5 with the suffix of a tar ball.
func (r *Region) filename(kind string) string {
	if suffix, tarball := strings.CutPrefix(kind, "root-t"); tarball && r.since(3, 5) {
		return "root.t" + suffix
	}
	return kind
}

// imageForm is what a valid request to create an image says.
type imageForm struct {
	name  string // osystem/series
	arch  string // without the platform
	title string
	base  string
	kind  string
	sha   string
	size  int64
	// keepOld keeps the files of earlier versions.
	keepOld bool
}

// createImage adds an image, or a version to the image of that name and
// architecture. MAAS: the files of earlier versions are dropped right now, not
// when the new one is complete, and the base image of the first version stays.
func createImage(c *call) (*answer, *refusal) {
	form, refused := c.imageForm()
	if refused != nil {
		return nil, refused
	}
	if _, found := c.contents.find(func(other *content) bool { return other.sha256 == form.sha && other.total != form.size }); found {
		return nil, text(http.StatusBadRequest, "File already exists with sha256 that is of different size.")
	}
	i, found := c.uploadedImage(form.name, form.arch)
	if !found {
		i = &image{id: c.images.nextID(), name: form.name, uploaded: true, architecture: form.arch}
		insert(c.tx, c.images, i.id, i)
	}
	edit(c.tx, i)
	i.posted, i.title = true, form.title
	if i.base == "" {
		i.base = form.base
	}
	version := i.nextVersion(c.now().UTC().Format("20060102"))
	c.addFile(i, version, c.r.filename(form.kind), form.kind, form.sha, form.size)
	if !form.keepOld {
		for _, set := range i.sets {
			c.dropFiles(i, set.version)
		}
	}
	i.sets = append(slices.Clone(i.sets), imageSet{version, "uploaded"})
	out := c.r.renderImage(i)
	out.Sets = c.renderSets(c.r, i)
	return &answer{status: http.StatusCreated, contentType: typeJSON, body: pretty(out)}, nil
}

// uploadedImage finds an uploaded image by osystem/series and architecture.
func (s *state) uploadedImage(name, arch string) (*image, bool) {
	return s.images.find(func(i *image) bool { return i.uploaded && i.name == name && i.architecture == arch })
}

// nextVersion is the day, and from the second of a day on with a number.
func (i *image) nextVersion(day string) string {
	highest, found := 0, false
	for _, set := range i.sets {
		if !strings.HasPrefix(set.version, day) {
			continue
		}
		found = true
		if _, number, numbered := strings.Cut(set.version, "."); numbered {
			n, _ := strconv.Atoi(number) // versions are made here only
			highest = max(highest, n)
		}
	}
	if !found {
		return day
	}
	return day + "." + strconv.Itoa(highest+1)
}

// imageForm reads the form, field by field in MAAS's order.
func (c *call) imageForm() (imageForm, *refusal) {
	var e formErrors
	var out imageForm
	field := func(name string) string { return strings.TrimSpace(c.form.get(name)) }

	name, refused := c.imageName(field("name"), &e)
	if refused != nil {
		return out, refused
	}
	out.name, out.title = name, field("title")
	arch := field("architecture")
	usable := c.usableArchitectures()
	switch {
	case arch == "":
		e.add("architecture", required)
	case !slices.Contains(usable, arch):
		e.add("architecture", notOneOf(arch, "architecture", usable))
	}
	out.arch, _, _ = strings.Cut(arch, "/")
	out.kind = c.imageKind(&e)
	out.sha = field("sha256")
	switch n := len([]rune(out.sha)); {
	case n == 0:
		e.add("sha256", required)
	case n > 64:
		e.add("sha256", tooManyLetters(64, n))
	case n < 64:
		e.add("sha256", fmt.Sprintf("Ensure this value has at least 64 characters (it has %d).", n))
	}
	out.size = wholeNumber(field("size"), &e)
	out.base = c.baseImage(name, out.arch, &e)
	out.keepOld = c.form.formBoolean("keep_old")
	return out, e.refusal()
}

// imageName checks a name and returns it as osystem/series.
func (c *call) imageName(name string, e *formErrors) (string, *refusal) {
	switch n := len([]rune(name)); {
	case n == 0:
		e.add("name", required)
		return "", nil
	case n > maxName:
		e.add("name", tooManyLetters(maxName, n))
		return "", nil
	}
	full := "custom/" + name
	if os, series, prefixed := strings.Cut(name, "/"); prefixed {
		switch {
		case strings.Contains(series, "/"):
			return "", text(http.StatusInternalServerError, "too many values to unpack (expected 2)")
		case os == "custom":
			name, full = series, "custom/"+series
		case !slices.Contains(c.r.knownSystems(), os):
			e.add("name", "Unsupport operating system "+os+", supported operating systems: "+pyReprList(c.r.knownSystems()))
			return "", nil
		default:
			full = name
		}
	}
	if name == "" {
		e.add("name", "This field cannot be blank.")
	}
	if c.reservedName(name) || regexp.MustCompile(`^centos\d\d?$`).MatchString(name) {
		e.add("name", name+" is a reserved name")
	}
	return full, nil
}

// knownSystems are the operating systems that MAAS has a driver for.
func (r *Region) knownSystems() []string {
	out := []string{"ubuntu", "ubuntu-core", "bootloader", "centos", "rhel", "custom", "windows", "suse"}
	if r.since(3, 5) {
		return append(out, "esxi", "ol")
	}
	return append(out, "caringo", "esxi")
}

// reservedName says that a name belongs to an operating system, or to what the
// image streams have.
func (c *call) reservedName(name string) bool {
	streamed := []string{"centos/centos70", "centos/8"}
	for _, series := range ubuntuSeries() {
		streamed = append(streamed, "ubuntu/"+series[0])
	}
	for _, i := range c.images.all() {
		if !i.uploaded {
			streamed = append(streamed, i.name)
		}
	}
	for _, full := range streamed {
		_, series, _ := strings.Cut(full, "/")
		if name == full || name == series {
			return true
		}
	}
	return slices.Contains(c.r.knownSystems(), name)
}

// imageKind reads the file's type; tgz when the form has none.
func (c *call) imageKind(e *formErrors) string {
	asked := c.form.get("filetype")
	if !c.form.has("filetype") {
		asked = "tgz"
	}
	for _, t := range uploadTypes() {
		if t.asked == asked {
			return t.kind
		}
	}
	if asked == "" {
		e.add("filetype", required)
	} else {
		e.add("filetype", badChoiceOf(asked))
	}
	return ""
}

// wholeNumber reads a size as a Django form does: 64.0 is one too.
func wholeNumber(value string, e *formErrors) int64 {
	if value == "" {
		e.add("size", required)
		return 0
	}
	n, err := strconv.ParseInt(regexp.MustCompile(`\.0*$`).ReplaceAllString(value, ""), 10, 64)
	if err != nil {
		e.add("size", notWhole)
	}
	return n
}

// baseImage is what a custom image is built on. MAAS: when none is named it is
// that of the image with this name, else the commissioning image; images of
// other systems have none.
func (c *call) baseImage(name, arch string, e *formErrors) string {
	if os, _, prefixed := strings.Cut(c.form.get("name"), "/"); prefixed && os != "custom" {
		return ""
	}
	asked := strings.TrimSpace(c.form.get("base_image"))
	if asked == "" {
		if i, found := c.uploadedImage(name, arch); found && i.base != "" {
			return i.base
		}
		return commissioningImage
	}
	os, series, ok := strings.Cut(strings.ToLower(asked), "/")
	switch {
	case !ok || strings.Contains(series, "/"):
		e.add("base_image", "a base image must follow the format: <osystem>/<series>")
	case !slices.Contains([]string{"ubuntu", "centos", "rhel", "ol"}, os):
		e.add("base_image", "custom images require a valid non-custom OS type base image")
	case !knownRelease(os, series):
		e.add("base_image", "please select a valid base image OS and version")
	}
	return os + "/" + series
}

// commissioningImage is what machines boot while they are installed.
const commissioningImage = "ubuntu/jammy"

// knownRelease says whether MAAS's driver of a system knows a release: Ubuntu's
// by their names, the others' by how they look.
func knownRelease(os, series string) bool {
	if os == "ubuntu" {
		return knownSeries(series) != ""
	}
	return regexp.MustCompile(`^(` + os + `)?\d`).MatchString(series)
}
