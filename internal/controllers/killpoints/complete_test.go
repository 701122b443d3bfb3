package killpoints

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// noPartOfALife are the packages in internal/, and calls of package maas's client there, that no life makes, with the reason.
var noPartOfALife = map[string]string{
	"imagefile":                              "the command capmaas uploads images, and no machine's life is in it",
	"Domains in endpoint.(*Publisher).ttlOf": "only looks, where somebody took a record's TTL away",
	"controllers/maasremediation":            "its own tests kill it at every write, with the reconciler of MaasMachines beside it",
	"ErasesOnRelease in controllers/maasmachine.(*Reconciler).erasesOnRelease": "only looks, after an erasing failed that somebody else asked for",
	"Version in controllers/maasmachine.(*region).versionOf":                   "only looks, where release scripts are asked for",
	"Events in controllers/maasmachine.(*Reconciler).abortedBy":                "only looks, after somebody else aborted a deployment",
	"PowerOff in controllers/maasmachine.(*Reconciler).takeOut":                "no life ends with a machine that is marked broken",
	"MarkBroken in controllers/maasmachine.(*Reconciler).takeOut":              "no life ends with a machine that is marked broken",
	"Zones in checks.New":         "only looks, where a cluster names zones",
	"ResourcePools in checks.New": "only looks, where a cluster names pools",
}

// TestEveryCallIsInALife finds in the source what internal/ calls of package maas's client, and looks whether a life does so: not only
// each method, but each function that calls it.
func TestEveryCallIsInALife(t *testing.T) {
	t.Parallel()
	lived := map[string]bool{}
	for _, r := range roles() {
		w := newWorld(t, r, blow{})
		w.live()
		w.close()
		maps.Copy(lived, w.methods)
	}
	found := callsInSource(t)
	if len(found) < 10 {
		t.Fatalf("the source is not understood: it calls only %v", found)
	}
	for _, c := range found {
		isLived := lived[c.String()] || c.value && lived[c.method]
		_, excused := noPartOfALife[c.String()]
		if _, elsewhere := noPartOfALife[c.inPackage()]; elsewhere {
			excused = true
		}
		switch {
		case excused && isLived:
			t.Errorf("a life makes the call %s, which is listed as no part of any", c)
		case !excused && !isLived:
			t.Errorf("no life makes the call %s: let one make it, or say why none does", c)
		}
	}
	for call := range noPartOfALife {
		if !slices.ContainsFunc(found, func(c sourceCall) bool { return c.String() == call || c.inPackage() == call }) {
			t.Errorf("%s is listed as no part of a life, and is nowhere in the source", call)
		}
	}
}

// sourceCall is a method of package maas's client in the source of a function.
type sourceCall struct {
	method, function string
	value            bool // handed on, to be called elsewhere
}

func (c sourceCall) String() string { return c.method + " in " + c.function }

// inPackage is that of the function, below internal/.
func (c sourceCall) inPackage() string {
	name, _, _ := strings.Cut(c.function, ".")
	return name
}

// callsInSource reads all packages in internal/.
func callsInSource(t *testing.T) []sourceCall {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	s := &source{root: root, files: token.NewFileSet(), known: map[string]*types.Package{}}
	var all []sourceCall
	err = filepath.WalkDir(filepath.Join(root, "internal"), func(dir string, entry os.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		calls, err := s.callsIn(dir)
		all = append(all, calls...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b sourceCall) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(all)
}

// source reads packages of this module with their types. What they import from elsewhere is empty: nothing of it leads to our client.
type source struct {
	root  string
	files *token.FileSet
	known map[string]*types.Package
}

// Import is go/types's Importer.
func (s *source) Import(path string) (*types.Package, error) {
	if p := s.known[path]; p != nil {
		return p, nil
	}
	rest, ours := strings.CutPrefix(path, module+"/")
	if !ours {
		p := types.NewPackage(path, packageName(path))
		p.MarkComplete()
		s.known[path] = p
		return p, nil
	}
	p, _, _, err := s.check(path, filepath.Join(s.root, rest))
	return p, err
}

// packageName guesses what a package is called from where it is.
func packageName(path string) string {
	parts := strings.Split(path, "/")
	name := parts[len(parts)-1]
	if len(parts) > 1 && len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = parts[len(parts)-2]
	}
	return strings.TrimPrefix(name, "go-")
}

func (s *source) check(path, dir string) (*types.Package, []*ast.File, *types.Info, error) {
	found, err := build.ImportDir(dir, 0)
	if _, none := err.(*build.NoGoError); none { //nolint:errorlint // go/build does not wrap it
		return nil, nil, nil, nil
	}
	if err != nil {
		return nil, nil, nil, err
	}
	var parsed []*ast.File
	for _, name := range found.GoFiles {
		file, err := parser.ParseFile(s.files, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, nil, err
		}
		parsed = append(parsed, file)
	}
	info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	// What is imported from elsewhere has no types, which is no reason to stop.
	config := types.Config{Importer: s, Error: func(error) {}, IgnoreFuncBodies: false, FakeImportC: true}
	p, _ := config.Check(path, s.files, parsed, info)
	s.known[path] = p
	return p, parsed, info, nil
}

// callsIn lists those of one package.
func (s *source) callsIn(dir string) ([]sourceCall, error) {
	rest, err := filepath.Rel(s.root, dir)
	if err != nil {
		return nil, err
	}
	client, err := s.Import(module + "/maas")
	if err != nil {
		return nil, err
	}
	_, parsed, info, err := s.check(module+"/"+filepath.ToSlash(rest), dir)
	if err != nil || info == nil {
		return nil, err
	}
	var all []sourceCall
	for _, file := range parsed {
		for _, declared := range file.Decls {
			function, is := declared.(*ast.FuncDecl)
			if !is {
				continue
			}
			name := strings.TrimPrefix(filepath.ToSlash(rest), "internal/") + "." + receiver(function) + function.Name.Name
			all = append(all, callsOf(function, name, client, info)...)
		}
	}
	return all, nil
}

// receiver is that of a method as the runtime writes it.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	text := types.ExprString(f.Recv.List[0].Type)
	if base, _, generic := strings.Cut(text, "["); generic {
		text = base + "[...]"
	}
	if strings.HasPrefix(text, "*") {
		text = "(" + text + ")"
	}
	return text + "."
}

func callsOf(function *ast.FuncDecl, name string, client *types.Package, info *types.Info) []sourceCall {
	called := map[ast.Expr]bool{}
	var all []sourceCall
	ast.Inspect(function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			called[n.Fun] = true
		case *ast.SelectorExpr:
			selected := info.Selections[n]
			if selected != nil && selected.Obj().Pkg() == client && asks(selected) {
				all = append(all, sourceCall{n.Sel.Name, name, !called[n]})
			}
		}
		return true
	})
	return all
}

// asks says that what is selected is a method of the client that may send a request: one that takes a context.
func asks(s *types.Selection) bool {
	signature, is := s.Obj().Type().(*types.Signature)
	if !is || !strings.HasSuffix(types.TypeString(s.Recv(), nil), "/maas.Client") || signature.Params().Len() == 0 {
		return false
	}
	return signature.Params().At(0).Name() == "ctx"
}
