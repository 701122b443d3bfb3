package scenario

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// chance draws what a random program does next. The same seed and the same
// answers give the same program.
type chance struct{ *rand.Rand }

func newChance(seed uint64) chance { return chance{rand.New(rand.NewPCG(seed, 5))} }

func (c chance) one(of ...string) string { return of[c.IntN(len(of))] }

func (c chance) within(most time.Duration) Duration {
	return Duration(c.Int64N(int64(most)) + 1).round()
}

func (d Duration) round() Duration { return Duration(time.Duration(d).Round(time.Millisecond)) }

// scenario draws one of each word, and some more.
func (c chance) scenario() Scenario {
	s := Scenario{Seed: int64(c.IntN(1000))}
	for _, word := range append(Words(), Words()...) {
		for {
			if f := c.fault(word); f.check() == nil {
				s.Faults = append(s.Faults, f)
				break
			}
		}
	}
	c.Shuffle(len(s.Faults), func(i, j int) { s.Faults[i], s.Faults[j] = s.Faults[j], s.Faults[i] })
	s.Faults = s.named()
	return s
}

// fault draws a fault, which need not make sense.
func (c chance) fault(word Word) Fault {
	probability := c.Float64() / 5
	f := Fault{
		Do: word.Do, Probability: &probability, After: c.within(time.Hour), Skip: c.IntN(3), Count: c.IntN(4),
	}
	switch {
	case word.Group == OnRegion: // or nothing else would be seen
		f.For = c.within(time.Minute)
	case c.IntN(2) == 0:
		f.For = c.within(30 * time.Minute)
	}
	if c.IntN(2) == 0 {
		f.Every = c.within(2*time.Hour) + f.For
	}
	for _, name := range word.Fields {
		if c.IntN(2) == 0 && !slices.Contains([]string{"to", "delay", "age"}, name) {
			continue
		}
		switch name {
		case "on":
			f.On = Names{c.one("reads", "writes", "*", "allocate", "machine *", "dnsresource*", "deploy", "release")}
		case "machine":
			f.Machine = Names{c.one("node-1", "zone:rack-b", "tag:*", "pool:workers", "*", "*2")}
		case "user":
			f.User = "capi"
		case "committed":
			f.Committed = true
		case "answer":
			f.Answer = c.one("bad-gateway", "conflict", "no-rack", "unauthorized")
		case "reason":
			f.Reason = "it says no"
		case "delay", "age":
			d := c.within(time.Minute)
			if name == "age" {
				f.Age = d
			} else if word.Group != OnHardware || c.IntN(2) == 0 {
				f.Delay = d
			}
		case "to":
			f.To = c.destination(word.Do)
		}
	}
	return f
}

func (c chance) destination(do Do) string {
	switch do {
	case Rename:
		return fmt.Sprintf("node-%d", c.IntN(9))
	case Rezone:
		return c.one("rack-a", "rack-b", "default", "gone")
	case Repool:
		return c.one("workers", "default", "gone")
	}
	return c.one("operator", "capi", "somebody")
}

// step is a request of a random program.
type step struct{ method, path, form string }

// next draws a request about what the region holds.
func (c chance) next(region *simulator.Region) step {
	held := region.Snapshot()
	machine := "gone00"
	if n := len(held.Machines); n > 0 && c.IntN(30) > 0 {
		machine = held.Machines[c.IntN(n)].SystemID
	}
	id := c.IntN(6)
	switch c.IntN(10) {
	case 0, 1:
		return c.read(machine, id)
	case 2, 3:
		return c.lists(machine)
	case 4:
		return c.names(id)
	default:
		return c.machine(machine, id)
	}
}

// about puts a machine and a number into a path.
func about(machine string, id int, path string) string {
	return strings.NewReplacer("{machine}", machine, "{id}", strconv.Itoa(id)).Replace(path)
}

func (c chance) read(machine string, id int) step {
	return step{http.MethodGet, about(machine, id, c.one(
		"/machines/", "/machines/{machine}/", "/machines/?zone=rack-b", "/machines/?op=power_parameters", "/machines/{machine}/?op=query_power_state",
		"/nodes/{machine}/interfaces/", "/events/?op=query", "/dnsresources/?all=true", "/dnsresources/{id}/", "/ipaddresses/", "/subnets/{id}/?op=ip_addresses",
		"/subnets/", "/vm-hosts/", "/vm-hosts/{id}/", "/zones/", "/resourcepools/", "/tags/t{id}/?op=machines", "/domains/", "/ipranges/",
		"/boot-resources/", "/account/?op=list_authorisation_tokens", "/users/", "/nothing/", "/machines/{machine}/?op=details",
	)), ""}
}

func (c chance) lists(machine string) step {
	switch c.IntN(7) {
	case 0, 1, 2:
		return step{http.MethodPost, "/machines/?op=allocate", c.one("", "system_id="+machine, "zone=rack-b", "mem=1024&comment=x", "tags=gpu", "agent_name=me&cpu_count=2")}
	case 3:
		return step{http.MethodPost, "/machines/?op=release", "machines=" + machine + c.one("", "&erase=true")}
	case 4:
		return step{http.MethodPost, "/machines/", fmt.Sprintf("hostname=new-%d&architecture=amd64&power_type=manual&mac_addresses=52:54:00:aa:00:%02x%s",
			c.IntN(20), c.IntN(256), c.one("", "&commission=true", "&deployed=true"))}
	case 5:
		return step{http.MethodPost, "/account/?op=create_authorisation_token", ""}
	default:
		return step{http.MethodPost, fmt.Sprintf("/vm-hosts/%d/?op=compose", c.IntN(3)), c.one("", "cores=2&memory=2048", "cores=900")}
	}
}

func (c chance) names(id int) step {
	name := fmt.Sprintf("t%d", id)
	kind := c.one("zones", "tags", "resourcepools", "domains")
	switch c.IntN(7) {
	case 0, 1:
		return step{http.MethodPost, "/" + kind + "/", "name=" + name}
	case 2:
		return step{http.MethodDelete, about("", id, c.one("/zones/t{id}/", "/tags/t{id}/", "/resourcepool/{id}/", "/domains/{id}/", "/dnsresources/{id}/", "/vm-hosts/{id}/")), ""}
	case 3:
		return step{http.MethodPost, "/dnsresources/", fmt.Sprintf("fqdn=%s.maas&ip_addresses=10.20.1.%d%s", name, c.IntN(5)+1, c.one("", " 10.20.1.9"))}
	case 4:
		return step{http.MethodPut, fmt.Sprintf("/dnsresources/%d/", id), fmt.Sprintf("ip_addresses=10.20.0.%d", c.IntN(5)+1)}
	case 5:
		return step{http.MethodPost, "/ipaddresses/?op=" + c.one("reserve", "release"), fmt.Sprintf("subnet=10.20.0.0/21&ip=10.20.2.%d", id)}
	default:
		return step{http.MethodPost, "/tags/" + name + "/?op=update_nodes", "add=aaaaaa&remove=bbbbbb"}
	}
}

func (c chance) machine(machine string, id int) step {
	path := "/machines/" + machine + "/"
	switch c.IntN(12) {
	case 0:
		return step{http.MethodDelete, path, ""}
	case 1, 2:
		return step{http.MethodPut, path, c.one(fmt.Sprintf("hostname=node-%d", id), "zone=rack-a", "pool=workers", fmt.Sprintf("zone=t%d", id),
			fmt.Sprintf("pool=t%d", id), fmt.Sprintf("domain=t%d", id), "description=x", "power_parameters_power_pass=x")}
	case 3:
		return step{http.MethodPost, fmt.Sprintf("/nodes/%s/interfaces/%d/?op=%s", machine, id, c.one("disconnect", "link_subnet", "add_tag")), "mode=AUTO&subnet=1&tag=x"}
	default:
		return step{http.MethodPost, path + "?op=" + c.one("deploy", "deploy", "deploy", "release", "release", "abort", "power_on", "power_off", "mark_broken", "mark_fixed", "lock",
			"unlock", "rescue_mode", "exit_rescue_mode", "commission", "test", "override_failed_testing", "set_workload_annotations", "set_storage_layout",
			"restore_default_configuration"), c.one("", "erase=true", "comment=x", "user_data=eA==", "k=v", "storage_layout=flat")}
	}
}
