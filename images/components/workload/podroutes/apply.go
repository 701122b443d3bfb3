package podroutes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/vishvananda/netlink"
	"k8s.io/klog/v2"

	"github.com/capmaas/cluster-api-provider-maas/images/components/workload/podroutes/nodenet"
)

// protocol marks our routes in the kernel's table, so that stale ones can be told from other people's. Numbers above
// 4 that no routing daemon has claimed are free for anyone.
const protocol = netlink.RouteProtocol(147)

// apply makes the node's network as planned. It goes on after an error, so that one bad route does not cut off the rest.
func apply(ctx context.Context, plan nodenet.Plan, path string) error {
	return errors.Join(
		writeRoutes(plan.Routes),
		loadRules(ctx, plan.Rules),
		// Last, because the node becomes Ready by it.
		writeFile(path, plan.Conflist),
	)
}

func writeRoutes(routes []nodenet.Route) error {
	filter := &netlink.Route{Protocol: protocol}
	existing, err := netlink.RouteListFiltered(netlink.FAMILY_V4, filter, netlink.RT_FILTER_PROTOCOL)
	if err != nil {
		return fmt.Errorf("listing routes: %w", err)
	}
	wanted := make(map[string]bool, len(routes))
	var problems []error
	for _, route := range routes {
		wanted[route.Destination.String()] = true
		if err := netlink.RouteReplace(kernelRoute(route)); err != nil {
			problems = append(problems, fmt.Errorf("routing %s via %s: %w", route.Destination, route.Via, err))
		}
	}
	for _, route := range existing {
		if route.Dst == nil || wanted[route.Dst.String()] {
			continue
		}
		klog.InfoS("Removing the route to a node that is gone", "destination", route.Dst.String())
		if err := netlink.RouteDel(&route); err != nil {
			problems = append(problems, fmt.Errorf("removing the route to %s: %w", route.Dst, err))
		}
	}
	return errors.Join(problems...)
}

func kernelRoute(route nodenet.Route) *netlink.Route {
	return &netlink.Route{Dst: ipNet(route.Destination), Gw: route.Via.AsSlice(), Protocol: protocol}
}

func ipNet(prefix netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: prefix.Addr().AsSlice(), Mask: net.CIDRMask(prefix.Bits(), prefix.Addr().BitLen())}
}

func loadRules(ctx context.Context, rules string) error {
	cmd := exec.CommandContext(ctx, "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(rules)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("loading masquerade rules: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// writeFile replaces the file at once: the container runtime watches its folder and must never read half of it.
func writeFile(path string, content []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return nil
	}
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if err := os.WriteFile(temporary, content, 0o644); err != nil {
		return fmt.Errorf("writing the network plugins' configuration: %w", err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("writing the network plugins' configuration: %w", err)
	}
	return nil
}
