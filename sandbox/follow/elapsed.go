package follow

import (
	"fmt"
	"time"
)

// Elapsed writes a duration so that it lines up: " 1m05s".
func Elapsed(d time.Duration) string {
	d = d.Round(time.Second)
	return fmt.Sprintf("%2dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}
