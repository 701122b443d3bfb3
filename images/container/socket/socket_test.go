package socket

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSocketsMayHaveLongPathsAndTakeThePlaceOfOldOnes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "socket")
	for range 2 { // the second time the file is there
		listener, err := Listen(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the socket is %v, %v", info, err)
		}
		go func() {
			if server, err := listener.Accept(); err == nil {
				_, _ = io.WriteString(server, "hello")
				server.Close()
			}
		}()
		client, err := Dial(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(client); string(text) != "hello" {
			t.Errorf("read %q, %v", text, err)
		}
		client.Close()
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	}
}
