package management

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/images/container/socket"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator/scenario"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/host"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/machines"
)

// Status is how the sandbox is.
type Status struct {
	// Ready says that all components have been started.
	Ready      bool              `json:"ready"`
	Components []ComponentStatus `json:"components"`
	// Disks say which images machines run.
	Disks []machines.Disk `json:"disks"`
	// Faults are what goes wrong in MAAS, and what each did.
	Faults []scenario.State `json:"faults"`
}

// serveControl answers questions and orders on the control socket. Beside those of [scenario.Control], which people can list with
//
//	curl --unix-socket .sandbox/control.sock http://localhost/
//
// there are
//
//	GET  /status                    Status
//	GET  /strikes                   Strikes
//	POST /components/{name}/kill    SIGKILL; with ?on=allocate, when the next such operation has reached the region, which carries
//	                                it out but does not answer
func (d *Daemon) serveControl(ctx context.Context) (stop func(), err error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		status := Status{Components: d.supervisor.statuses(), Disks: d.booter.Disks(), Faults: d.trouble.running.Faults()}
		select {
		case <-d.ready:
			status.Ready = true
		default:
		}
		answer(w, status)
	})
	mux.HandleFunc("GET /strikes", func(w http.ResponseWriter, _ *http.Request) { answer(w, d.trouble.all()) })
	mux.HandleFunc("POST /components/{name}/kill", func(w http.ResponseWriter, r *http.Request) {
		done(w, d.kill(r.PathValue("name"), r.URL.Query().Get("on")))
	})
	mux.Handle("/", scenario.Control(d.region, d.trouble.running))
	path := d.layout.ControlSocket()
	listener, err := socket.Listen(path)
	if err != nil {
		return nil, err
	}
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() { _ = server.Serve(listener) }()
	return func() {
		server.Close()
		os.Remove(path)
	}, nil
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
	d.region.AddIntercept(func(request simulator.Request) (fault simulator.Fault) {
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

// Control asks a running sandbox.
type Control struct{ http *http.Client }

// NewControl asks the sandbox of this layout. It need not run yet.
func NewControl(l host.Layout) *Control {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return socket.Dial(ctx, l.ControlSocket()) }
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

// Strikes asks what the scenario did.
func (c *Control) Strikes(ctx context.Context) (Strikes, error) {
	var out Strikes
	return out, c.get(ctx, "/strikes", &out)
}

func (c *Control) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
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
