// Command init is all that a very small machine runs: it says on the console that it is there, until it is ended.
package main

import (
	"fmt"
	"time"
)

func main() {
	for {
		fmt.Println("the init of another image runs")
		time.Sleep(time.Second)
	}
}
