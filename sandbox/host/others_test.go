package host

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestASandboxIsKnownByItsFirstProcess(t *testing.T) {
	t.Parallel()
	line := strings.Join([]string{"/x/_build/bin/sandbox", InitCommand, "--root", "/x", "--dir", "/x/.sandbox", "--build-dir", "/x/_build", ""}, "\x00")
	got, ok := sandboxOf(line)
	if want := (Layout{Root: "/x", State: "/x/.sandbox", Build: "/x/_build"}); !ok || got != want {
		t.Errorf("sandboxOf = %+v, %t", got, ok)
	}
	for _, other := range []string{"", "sh", "sh\x00-c\x00" + InitCommand + "\x00", "sandbox\x00" + InitCommand + "\x00"} {
		if _, ok := sandboxOf(other); ok {
			t.Errorf("%q is taken for a sandbox", other)
		}
	}
}

func TestCommandsFitTheFolders(t *testing.T) {
	t.Parallel()
	usual, other := Layout{Root: "/x", State: "/x/.sandbox", Build: "/x/_build"}, Layout{Root: "/x", State: "/y", Build: "/z"}
	for got, want := range map[string]string{
		usual.Command("down", ""):           "make sandbox-down",
		usual.Command("logs", "calm-dingo"): "make sandbox-logs MACHINE=calm-dingo",
		usual.commandFromElsewhere("down"):  "make -C /x sandbox-down",
		other.Command("logs", "calm-dingo"): "/z/bin/sandbox --root /x --dir /y --build-dir /z logs calm-dingo",
		other.commandFromElsewhere("down"):  "/z/bin/sandbox --root /x --dir /y --build-dir /z down",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNothingIsAddedWhereNothingIsWrong(t *testing.T) {
	t.Parallel()
	if err := Crowded(Layout{State: t.TempDir()}, nil); err != nil {
		t.Error(err)
	}
	cause := errors.New("cause")
	if err := Crowded(Layout{State: t.TempDir()}, cause); !errors.Is(err, cause) {
		t.Error(err)
	}
}

func TestSandboxesTellOthersWhatTheyWillTake(t *testing.T) {
	t.Parallel()
	first, second := Layout{State: t.TempDir()}, Layout{State: t.TempDir()}
	if err := os.Mkdir(first.Run(), 0o700); err != nil {
		t.Fatal(err)
	}
	needs := Needs{ControlPlanes: 1, Workers: 3}
	if err := Reserve(first, needs); err != nil {
		t.Fatal(err)
	}
	if got := reserved([]Layout{first, second}); got != needs.inotify() || got < 50 {
		t.Errorf("reserved = %d, want %d", got, needs.inotify())
	}
}
