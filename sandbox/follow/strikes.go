package follow

import (
	"context"
	"fmt"
)

// tellStrikes says what a scenario did in MAAS since the last look, a few lines at most.
func (f *follower) tellStrikes(ctx context.Context) {
	const most = 5
	strikes, err := f.control.Strikes(ctx)
	if err != nil {
		return // a sandbox that does not answer is told of by others
	}
	fresh := min(strikes.Total-f.struck, len(strikes.Latest))
	f.struck = strikes.Total
	for i, s := range strikes.Latest[len(strikes.Latest)-fresh:] {
		if i == most {
			f.view.say(f.elapsed(), fmt.Sprintf("MAAS goes wrong %d times more (make sandbox-status counts them)", fresh-most))
			return
		}
		f.view.say(f.elapsed(), "MAAS goes wrong: "+s.Fault+": "+s.What())
	}
}
