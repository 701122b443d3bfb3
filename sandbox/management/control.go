package management

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
)

// Status is how the sandbox is.
type Status struct {
	// Ready says that all components have been started.
	Ready      bool              `json:"ready"`
	Components []ComponentStatus `json:"components"`
}

// serveControl answers questions and orders on the control socket:
//
//	GET  /status                      Status
//	GET  /snapshot                    the region's simulator.Snapshot
//	GET  /requests                    the region's access log, []simulator.Request
//	POST /machines/{id}/{action}      what an operator or hardware does; see operate. id is a system ID or a hostname
//	POST /components/{name}/kill      SIGKILL; with ?on=allocate, when the next such operation has reached the region, which carries
//	                                  it out but does not answer
func (d *Daemon) serveControl(ctx context.Context) (stop func(), err error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		status := Status{Components: d.supervisor.statuses()}
		select {
		case <-d.ready:
			status.Ready = true
		default:
		}
		answer(w, status)
	})
	mux.HandleFunc("GET /snapshot", func(w http.ResponseWriter, _ *http.Request) { answer(w, d.region.Snapshot()) })
	mux.HandleFunc("GET /requests", func(w http.ResponseWriter, _ *http.Request) { answer(w, d.region.Requests()) })
	mux.HandleFunc("POST /machines/{id}/{action}", func(w http.ResponseWriter, r *http.Request) {
		done(w, d.operate(r.PathValue("id"), r.PathValue("action")))
	})
	mux.HandleFunc("POST /components/{name}/kill", func(w http.ResponseWriter, r *http.Request) {
		done(w, d.kill(r.PathValue("name"), r.URL.Query().Get("on")))
	})
	listener, err := listenUnix(ctx, d.layout.ControlSocket())
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	return func() { server.Close() }, nil
}

// kill ends a component with SIGKILL: now, or when the region has received the next operation of the given name.
func (d *Daemon) kill(component, operation string) error {
	if operation == "" {
		return d.supervisor.kill(component)
	}
	if !d.supervisor.runs(component) {
		return fmt.Errorf("no component %q runs", component)
	}
	var once sync.Once
	d.region.SetIntercept(func(request simulator.Request) (fault simulator.Fault) {
		if request.Op != operation {
			return fault
		}
		once.Do(func() {
			// What was received is carried out, although nobody is there any more to hear of it.
			fault.DropAnswer = true
			err := d.supervisor.kill(component)
			d.log.Info("killed a component in the middle of an operation", "component", component, "operation", operation, "error", err)
		})
		return fault
	})
	return nil
}

// operate does to a machine what people and hardware do behind the API's back.
func (d *Daemon) operate(machine, action string) error {
	id := machine
	for _, m := range d.region.Snapshot().Machines {
		if m.Hostname == machine {
			id = m.SystemID
		}
	}
	switch action {
	case "release":
		return d.region.OperatorRelease(id)
	case "delete":
		return d.region.OperatorDelete(id)
	case "lock":
		return d.region.Lock(id, true)
	case "unlock":
		return d.region.Lock(id, false)
	case "fail-deployment":
		return d.region.FailDeployment(id, "told to fail")
	case "lose-power":
		// MAAS sees it, as it does when it asks the machine's power controller next.
		return errors.Join(d.booter.Halt(context.Background(), id, false), d.region.SetPower(id, "off"))
	default:
		return fmt.Errorf("no action %q: release, delete, lock, unlock, fail-deployment or lose-power", action)
	}
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

func done(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// listenUnix listens on a socket whose path may be longer than the 107 characters that a socket's address holds.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("making the control socket: %w", err)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("making the control socket: %w", err)
	}
	defer dir.Close()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", throughDir(dir, path))
	if err != nil {
		return nil, fmt.Errorf("making the control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, fmt.Errorf("making the control socket: %w", err)
	}
	return listener, nil
}

func throughDir(dir *os.File, path string) string {
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path))
}

// Control asks a running sandbox.
type Control struct{ http *http.Client }

// NewControl asks the sandbox of this layout. It need not run yet.
func NewControl(l host.Layout) *Control {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		dir, err := os.Open(l.State)
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		return (&net.Dialer{}).DialContext(ctx, "unix", throughDir(dir, l.ControlSocket()))
	}
	return &Control{http: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DialContext: dial}}}
}

// Status asks how the sandbox is.
func (c *Control) Status(ctx context.Context) (Status, error) {
	var out Status
	return out, c.get(ctx, "/status", &out)
}

// Snapshot asks what the region holds.
func (c *Control) Snapshot(ctx context.Context) (simulator.Snapshot, error) {
	var out simulator.Snapshot
	return out, c.get(ctx, "/snapshot", &out)
}

// Requests asks what the region was asked, oldest first.
func (c *Control) Requests(ctx context.Context) ([]simulator.Request, error) {
	var out []simulator.Request
	return out, c.get(ctx, "/requests", &out)
}

func (c *Control) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://sandbox"+path, nil)
	if err != nil {
		return err
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("asking the sandbox: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("asking the sandbox for %s: %s", path, answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		return fmt.Errorf("reading the sandbox's answer: %w", err)
	}
	return nil
}
