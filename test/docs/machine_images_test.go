package docs

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/capmaas/cluster-api-provider-maas/internal/imagefile"
)

const (
	imageData = checkout + "/images/debian-12/root"
	forImages = imageData + "/usr/lib/container-machine"
)

var (
	codeWord    = regexp.MustCompile("`([^`\n]+)`")
	tableCode   = regexp.MustCompile("(?m)^\\s*\\| `([^`\n]+)`(?:, `[^`\n]+`)* \\|")
	leaveOut    = regexp.MustCompile(`(?m)^leave_out (.*)$`)
	shadowed    = regexp.MustCompile(`(?m)^shadow (/\S+)`)
	pinnedKube  = regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes (v\S+)`)
	makeVersion = regexp.MustCompile(`make image\S* KUBERNETES_VERSION=(v\S+)`)
)

func TestThePageNamesImagesAsTheRecipeDoes(t *testing.T) {
	t.Parallel()
	words := map[string]string{"version": pinned(t, "kubernetes"), "out": "_build", "runtime.GOARCH": "amd64"}
	for _, c := range constants(t, checkout+"/images/recipe/recipe.go") {
		words[c.name] = c.value
	}
	name := returned(t, "BootResource", words)
	file := returned(t, "File", words)
	page := machineImages(t)
	for _, text := range []string{
		"`" + name + "`", "upload " + file + "\n", "`" + path.Base(file) + "`", "`" + path.Base(imagefile.ManifestPath(file)) + "`",
		"`" + path.Dir(file) + "`",
		"MACHINE_IMAGE=" + strings.TrimSuffix(name, words["version"]) + "$KUBERNETES_VERSION\n",
		"KUBERNETES_VERSION=" + words["version"] + "\n",
	} {
		if !strings.Contains(page, text) {
			t.Errorf("docs/machine-images.md does not have %q", text)
		}
	}
}

func TestVersionsThatThePageMakesArePinned(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(checkout + "/images/components/kubernetes*")
	if err != nil {
		t.Fatal(err)
	}
	var versions []string
	for _, folder := range folders {
		versions = append(versions, pinned(t, filepath.Base(folder)))
	}
	made := makeVersion.FindAllStringSubmatch(machineImages(t), -1)
	if len(made) == 0 {
		t.Error("the page makes no image of a version; is the pattern right?")
	}
	for _, match := range made {
		if !slices.Contains(versions, match[1]) {
			t.Errorf("the page makes Kubernetes %s, and pinned are %v", match[1], versions)
		}
	}
}

func TestThePageHasTheFlagsOfUpload(t *testing.T) {
	t.Parallel()
	var flags []string
	for _, flag := range flagsIn(t, checkout+"/cmd/capmaas/image_upload.go") {
		flags = append(flags, "--"+flag)
	}
	expectSame(t, "flags of capmaas image upload", firstCells(section(t, "## Upload it")), flags)
}

func TestThePageHasTheFlagsOfBuild(t *testing.T) {
	t.Parallel()
	var flags []string
	for _, file := range []string{"build.go", "main.go"} {
		for _, flag := range flagsIn(t, checkout+"/images/cmd/image/"+file) {
			flags = append(flags, "--"+flag)
		}
	}
	var named []string
	for _, word := range words(section(t, "### Flags of image build")) {
		if strings.HasPrefix(word, "--") {
			named = append(named, word)
		}
	}
	expectSame(t, "flags of image build", named, flags)
}

func TestThePageHasTheFieldsOfTheManifest(t *testing.T) {
	t.Parallel()
	var fields []string
	for field := range reflect.TypeFor[imagefile.Manifest]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		fields = append(fields, name)
	}
	var named []string
	for line := range strings.Lines(section(t, "### The manifest")) {
		if cell, _, found := strings.Cut(strings.TrimPrefix(line, "|"), "|"); found && strings.HasPrefix(line, "|") {
			named = append(named, words(cell)...)
		}
	}
	expectSame(t, "fields of the manifest", named, fields)
}

func TestThePageListsWhatIsForContainersOnly(t *testing.T) {
	t.Parallel()
	text := section(t, "### What is for containers only")
	var files []string
	err := filepath.WalkDir(forImages+"/files", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, strings.TrimPrefix(filepath.ToSlash(file), forImages+"/files"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	expectSame(t, "files for containers only", firstCells(text), files)

	var units, settings []string
	generator := strings.ReplaceAll(read(t, imageData+"/usr/lib/systemd/system-generators/container-machine"), "\\\n", " ")
	for _, match := range leaveOut.FindAllStringSubmatch(generator, -1) {
		units = append(units, strings.Fields(match[1])...)
	}
	for _, match := range shadowed.FindAllStringSubmatch(read(t, forImages+"/setup"), -1) {
		settings = append(settings, match[1])
	}
	var namedUnits, namedSettings []string
	for _, word := range words(text) {
		switch path.Ext(word) {
		case ".service", ".socket", ".timer", ".target":
			if !strings.HasPrefix(word, "/") {
				namedUnits = append(namedUnits, word)
			}
		}
		if strings.HasPrefix(word, "/proc/") {
			namedSettings = append(namedSettings, word)
		}
	}
	expectSame(t, "services that are left out", namedUnits, units)
	expectSame(t, "settings of the kernel that are covered", namedSettings, settings)
}

// A guard that goes missing would be noticed on hardware alone.
func TestWhatIsForContainersOnlyIsGuarded(t *testing.T) {
	t.Parallel()
	const service = "/etc/systemd/system/container-machine.service"
	if !strings.Contains(read(t, imageData+service), "\nConditionVirtualization=container\n") {
		t.Errorf("%s has no condition", service)
	}
	before, _, guarded := strings.Cut(
		read(t, imageData+"/usr/lib/systemd/system-generators/container-machine"), "\nsystemd-detect-virt --quiet --container || exit 0\n")
	if !guarded || strings.ContainsAny(before, "(|`") || strings.Contains(before, "ln ") {
		t.Errorf("the generator does something before it asks where it is: %q", before)
	}
	if !strings.Contains(read(t, forImages+"/files/usr/local/bin/kubeadm"), `systemd-detect-virt --quiet --container || exec "$real" "$@"`) {
		t.Error("kubeadm in a container does not ask where it is")
	}
	err := filepath.WalkDir(imageData, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.HasPrefix(filepath.ToSlash(file), forImages) {
			return err
		}
		if strings.Contains(read(t, file), "container-machine/") && !strings.HasSuffix(filepath.ToSlash(file), service) {
			t.Errorf("%s uses what is for containers only", file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesOfTheImageThatThePageNamesAreThere(t *testing.T) {
	t.Parallel()
	for _, word := range words(machineImages(t)) {
		if strings.HasPrefix(word, "images/") {
			if _, err := os.Stat(filepath.Join(checkout, word)); err != nil {
				t.Errorf("the page names %s: %v", word, err)
			}
		}
	}
	for _, word := range words(section(t, "### What is for containers only")) {
		if !strings.HasPrefix(word, "/etc/") && !strings.HasPrefix(word, "/usr/lib/container-machine") {
			continue
		}
		if _, err := os.Stat(imageData + word); err != nil {
			if _, err := os.Stat(forImages + "/files" + word); err != nil {
				t.Errorf("the page names %s, which the image has from neither place", word)
			}
		}
	}
}

func machineImages(t *testing.T) string { return read(t, checkout+"/docs/machine-images.md") }

// section returns the part of the page under a heading, up to the next one of the same level or above.
func section(t *testing.T, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(machineImages(t), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/machine-images.md has no %q", heading)
	}
	var kept strings.Builder
	code := false
	for line := range strings.Lines(text) {
		code = code != strings.HasPrefix(line, "```")
		if level := strings.IndexFunc(line, func(r rune) bool { return r != '#' }); !code && level > 0 && level <= strings.Index(heading, " ") {
			break
		}
		kept.WriteString(line)
	}
	return kept.String()
}

// words returns what stands between single backticks.
func words(text string) []string {
	var all []string
	for _, match := range codeWord.FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}

// firstCells returns the code with which rows of tables begin.
func firstCells(text string) []string {
	var cells []string
	for _, match := range tableCode.FindAllStringSubmatch(text, -1) {
		cells = append(cells, match[1])
	}
	return cells
}

func expectSame(t *testing.T, what string, named, real []string) {
	t.Helper()
	if len(real) == 0 {
		t.Fatalf("found no %s in the code; did they move?", what)
	}
	for _, name := range real {
		if !slices.Contains(named, name) {
			t.Errorf("%s: the page lacks %s", what, name)
		}
	}
	for _, name := range named {
		if !slices.Contains(real, name) {
			t.Errorf("%s: the page has %s, which does not exist", what, name)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// pinned returns the version of Kubernetes that a component pins.
func pinned(t *testing.T, component string) string {
	t.Helper()
	match := pinnedKube.FindStringSubmatch(read(t, checkout+"/images/components/"+component+"/go.mod"))
	if match == nil {
		t.Fatalf("%s pins no Kubernetes", component)
	}
	return match[1]
}

// flagsIn returns the flags that a file of a command defines.
func flagsIn(t *testing.T, file string) []string {
	t.Helper()
	var flags []string
	ast.Inspect(parse(t, file), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 3 {
			return true
		}
		if method, ok := call.Fun.(*ast.SelectorExpr); ok && strings.HasSuffix(method.Sel.Name, "Var") {
			if name, ok := call.Args[1].(*ast.BasicLit); ok && name.Kind == token.STRING {
				flags = append(flags, strings.Trim(name.Value, `"`))
			}
		}
		return true
	})
	return flags
}

// returned evaluates what a function of the recipe returns, with values for the words in it.
func returned(t *testing.T, function string, words map[string]string) string {
	t.Helper()
	for _, d := range parse(t, checkout+"/images/recipe/recipe.go").Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil || f.Name.Name != function || len(f.Body.List) != 1 {
			continue
		}
		if result, ok := f.Body.List[0].(*ast.ReturnStmt); ok {
			text, err := evaluate(result.Results[0], words)
			if err != nil {
				t.Fatalf("%s of the recipe: %v", function, err)
			}
			return text
		}
	}
	t.Fatalf("the recipe has no function %s that returns an expression", function)
	return ""
}

func evaluate(e ast.Expr, words map[string]string) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.Ident:
		if value := words[e.Name]; value != "" {
			return value, nil
		}
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok && words[pkg.Name+"."+e.Sel.Name] != "" {
			return words[pkg.Name+"."+e.Sel.Name], nil
		}
	case *ast.BinaryExpr:
		left, err := evaluate(e.X, words)
		if err != nil {
			return "", err
		}
		right, err := evaluate(e.Y, words)
		return left + right, err
	case *ast.CallExpr: // filepath.Join
		var parts []string
		for _, argument := range e.Args {
			part, err := evaluate(argument, words)
			if err != nil {
				return "", err
			}
			parts = append(parts, part)
		}
		return path.Join(parts...), nil
	}
	return "", fmt.Errorf("an expression (%T) that this test does not know", e)
}
