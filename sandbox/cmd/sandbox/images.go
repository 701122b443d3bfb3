package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/capmaas/cluster-api-provider-maas/sandbox/machines"
	"github.com/capmaas/cluster-api-provider-maas/sandbox/management"
)

// printImages says which machines run which image: the one that the sandbox uploaded first, also when none does.
func printImages(uploaded management.Image, disks []machines.Disk) {
	type content struct{ name, sha256 string }
	first := content{uploaded.Name, uploaded.SHA256}
	all := []content{first}
	users := map[content][]string{}
	for _, d := range disks {
		c := content{d.Image, d.SHA256}
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
		users[c] = append(users[c], d.Hostname)
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "IMAGE\tSHA256\tMACHINES THAT BOOTED IT")
	for _, c := range all {
		names := users[c]
		slices.Sort(names)
		if len(names) == 0 {
			names = []string{"none"}
		}
		fmt.Fprintf(out, "%s\t%.12s…\t%s\n", c.name, c.sha256, strings.Join(names, ", "))
	}
	_ = out.Flush() // Nobody can act on it.
}
