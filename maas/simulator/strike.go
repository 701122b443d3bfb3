package simulator

import (
	"context"
	"net"
	"net/http"
	"time"
)

// strike does to a request what a fault wants, in place of its answer.
func (e *execution) strike(w http.ResponseWriter, f Fault) {
	switch {
	case f.Hang:
		e.entry.Fault = faultHang
		e.entry.Duration = e.region.stopwatch().Sub(e.began)
		// It is in the log while it hangs.
		logged := e.region.log.add(*e.entry)
		select {
		case <-e.http.Context().Done():
		case <-e.cut:
		case <-f.Until:
		}
		e.region.log.lasted(logged, e.region.stopwatch().Sub(e.began))
		if f.Reset {
			resetConnection(w)
		} else {
			dropConnection(w)
		}
	case f.Reset:
		e.entry.Fault = faultReset
		e.log(0, 0)
		resetConnection(w)
	case f.DropAnswer:
		e.entry.Fault = faultDropped
		e.log(0, 0)
		dropConnection(w)
	default:
		e.entry.Fault = faultAnswered
		a := f.answer()
		e.log(a.status, len(a.body))
		a.write(w)
	}
}

// log writes the request into the access log.
func (e *execution) log(status, bytes int) {
	e.entry.Status, e.entry.Bytes, e.entry.Duration = status, bytes, e.region.stopwatch().Sub(e.began)
	e.region.log.add(*e.entry)
}

// pause lets the request wait for d, or until its client or the region is gone.
func (e *execution) pause(d time.Duration) {
	e.whileThere(d, func(ctx context.Context) { e.region.wait(ctx, d) })
}

// hold lets the request wait for what took d on the region's clock, or until
// its client or the region is gone.
func (e *execution) hold(d time.Duration) {
	e.whileThere(d, func(ctx context.Context) { e.region.waitFor(ctx, nil, d) })
}

// whileThere runs a wait of d that ends when the client or the region goes.
func (e *execution) whileThere(d time.Duration, wait func(context.Context)) {
	if d <= 0 {
		return
	}
	ctx, cancel := e.present()
	defer cancel()
	wait(ctx)
}

// present is a context that ends when the request's client or the region is
// gone.
func (e *execution) present() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(e.http.Context())
	go func() {
		select {
		case <-e.cut:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// dropConnection ends a request without an answer, the way net/http has for it.
func dropConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) //nolint:forbidigo // net/http has no other way to end a request without an answer
	}
	_ = conn.Close() // nothing was promised to the client
}

// resetConnection ends a request so that the client's system tells it of a
// reset. Over HTTP/2 there is no connection of the request's own: its stream is
// reset.
func resetConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) //nolint:forbidigo // net/http has no other way to end a request without an answer
	}
	// What is said at the end of TLS would come before the reset.
	for {
		inner, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		conn = inner.NetConn()
	}
	if tcp, ok := conn.(interface{ SetLinger(sec int) error }); ok {
		_ = tcp.SetLinger(0) // at worst the end is an orderly one
	}
	_ = conn.Close() // nothing was promised to the client
}
