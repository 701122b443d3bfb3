package simulator

import (
	"strings"
	"time"
)

// goldenGroup is a set of exchanges that is replayed in one way, for every
// version that was recorded.
type goldenGroup struct {
	name    string
	pattern string // of the exchanges' names
	// fresh makes a new world for each exchange.
	fresh bool
	// config changes what the world is made from.
	config func(*Config)
	// made changes the world once it is there.
	made func(*world)
	// before runs ahead of each exchange, before its machine is prepared.
	before func(*world, *exchange)
}

func goldenGroups() []goldenGroup {
	return []goldenGroup{
		{name: "requests", pattern: `^(auth|url|op|method|format|accept|body|cleanup|delete)\.`, config: requestWorld, before: disableUser2},
		{name: "details of machines", pattern: `^((list|machine)\.power_parameters|get_curtin_config|details|get_token)`, before: detailsBefore},
		{name: "machine JSON", pattern: `^machine\.(json\.(ready|ready.as-user|allocated|deploying|locked|deployed|releasing)|allocate|deploy|lock|unlock|release|read\.(unknown|bad|upper|hostname|rack|others))|^node\.read`, config: slowPower, before: machineBefore},
		{name: "machine JSON, other states", pattern: `^machine\.json\.(failed-deployment|commissioning|new-bare)`, fresh: true, before: otherStateBefore},
		{name: "list", pattern: `^list\.`, config: listWorld, made: listMade},
		{name: "allocate", pattern: `^allocate\.[^n]|^allocate\.(name|not|nothing)`, fresh: true, config: allocateWorld, made: allocateMade, before: allocateBefore},
		{name: "allocate none", pattern: `^allocate\.none\.`},
		{name: "annotate", pattern: `^annotate\.`},
		{name: "put", pattern: `^put\.`, config: putWorld},
		{name: "conflict", pattern: `^conflict\.`, config: conflictWorld},
		{name: "deploy", pattern: `^deploy\.`, before: deployBefore},
		{name: "life", pattern: `^life\.(\d[^0-5]|\d\D|10|11)`, config: timedPower, before: lifeBefore},
		{name: "life, power awaited", pattern: `^life\.1[23]`},
		{name: "release", pattern: `^release\.`, made: deployedAreOn, before: passTime},
		{name: "power, locks, repair", pattern: `^(power_on|power_off|query_power_state|locked|unlock|mark_fixed|ready)\.|^machine\.(mark_broken|json\.broken|read\.broken)`, config: promptPower, made: deployedAreOn, before: repairBefore},
		{name: "dynamic ranges", pattern: `^dns\.create\.dynamic-range-ip$`, config: dynamicWorld, made: threeResources},
		{name: "dns", pattern: `^dns(rr)?\.`, before: dnsBefore},
		{name: "places", pattern: `^(zones|zone|pools|pool|tags|tag)\.`, config: tagWorld},
		{name: "domains", pattern: `^(domains|domain)\.`, before: domainBefore},
		{name: "networks", pattern: `^(subnets?|fabrics|spaces)\.`, config: networkWorld},
		{name: "images", pattern: `^boot-resource`, made: imagesMade},
		{name: "users and version", pattern: `^(users|version)`},
		{name: "settings", pattern: `^maas\.`},
		{name: "VM hosts", pattern: `^(vm-host|vm-hosts|pods|compose)\.|^allocate\.none-with-pod`, before: vmHostBefore},
		{name: "silent composing", pattern: `^compose-on-allocate`, made: silentMade},
		{name: "interfaces", pattern: `^iface\.`, before: interfaceBefore},
		{name: "racks", pattern: `^(rackcontrollers|reservedips)$`},
		{name: "account", pattern: `^account\.`},
		{name: "events", pattern: `^events\.|^machine.after-deploy`, before: eventsBefore},
	}
}

// imagesMade counts the files that the recording's fixtures had made.
func imagesMade(w *world) {
	if !w.region.since(3, 5) {
		w.region.state.files.last = 16
	}
}

// passTime lets queued work happen before a machine is looked at.
func passTime(w *world, _ *exchange) {
	w.clock.Advance(time.Second)
}

func disableUser2(w *world, ex *exchange) {
	if u, _ := w.region.state.users.get("user2"); strings.HasPrefix(ex.Name, "auth.inactive") {
		u.disabled = true
	}
}

func requestWorld(cfg *Config) {
	cfg.Machines = []Machine{{Hostname: "auth-m1", SystemID: "wh8fba", MAC: "52:54:00:00:00:01"}}
}

// slowPower makes a world in which no power command ever shows.
func slowPower(cfg *Config) {
	cfg.Durations.PowerOn, cfg.Durations.PowerOff = time.Hour, time.Hour
	cfg.Machines = []Machine{{Hostname: "json-1", SystemID: "e7wd6m", Tags: []string{"ssd"}}}
}

// promptPower makes a world in which power commands show at once, where the
// version waits for them.
func promptPower(cfg *Config) {
	if cfg.Durations.PowerOff == 0 {
		cfg.Durations.PowerOn = 0
	}
}

func timedPower(cfg *Config) { cfg.Durations.PowerOff = 400 * time.Millisecond }

// deployedAreOn makes a world in which deployed machines are on.
func deployedAreOn(w *world) { w.deployedPower = "on" }

func listWorld(cfg *Config) {
	deployed, allocated := StatusDeployed, StatusAllocated
	cfg.Machines = []Machine{
		{Hostname: "list-1", SystemID: "d3cxq4", Zone: "z1", Pool: "p1", Tags: []string{"ssd"}, Cores: 8, MemoryMiB: 16384},
		{Hostname: "list-2", SystemID: "t6yk88", Tags: []string{"ssd", "gpu"}, MemoryMiB: 4096, Domain: "c1.example"},
		{Hostname: "list-3", Status: &allocated},
		{Hostname: "list-4", Status: &deployed, Architecture: "arm64/generic", MAC: "52:54:00:00:00:09"},
	}
}

func listMade(w *world) {
	all := w.region.state.machines.all()
	all[2].owner, all[2].agentName = "user", "ag-3"
	all[3].owner, all[3].agentName = "admin", "ag-4"
}

func allocateWorld(cfg *Config) {
	cfg.Machines = []Machine{
		{Hostname: "al-1", SystemID: "we76et", Zone: "z1", Pool: "p1", Tags: []string{"ssd"}},
		{Hostname: "al-2", SystemID: "kgbcgw"},
	}
}

func allocateMade(w *world) {
	m := w.region.state.machines.rows["kgbcgw"]
	m.status, m.owner = StatusAllocated, "user"
}

// allocateBefore makes what some of the exchanges of allocate start from.
func allocateBefore(w *world, ex *exchange) {
	al1 := w.region.state.machines.rows["we76et"]
	switch ex.Name {
	case "allocate.then-list-agent":
		al1.status, al1.owner, al1.agentName = StatusAllocated, "admin", "uid-77"
	case "allocate.again-own":
		al1.status, al1.owner = StatusAllocated, "admin"
	case "allocate.locked-ready":
		al1.locked = true
	case "allocate.cheapest":
		al1.status = StatusBroken
		for _, m := range []Machine{{Hostname: "ch-1", Cores: 8}, {Hostname: "ch-2", Cores: 2, MemoryMiB: 2048}, {Hostname: "ch-4", Cores: 1, MemoryMiB: 65536}} {
			if _, err := w.region.AddMachine(m); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

func putWorld(cfg *Config) { cfg.Machines = []Machine{{Hostname: "an-2"}} }

// conflictWorld makes a world whose database gives up on every change.
func conflictWorld(cfg *Config) {
	cfg.Intercept = func(r Request) Fault {
		fault, _ := PresetAnswer("conflict-retry", r)
		return fault
	}
}

// lifeBefore lets the time pass that lies between the steps of a life.
func lifeBefore(w *world, ex *exchange) {
	switch ex.Name {
	case "life.4-deploying-powered":
		w.clock.Advance(500 * time.Millisecond)
	case "life.5-deployed":
		w.clock.Advance(2 * time.Hour)
	case "life.8-ready":
		w.clock.Advance(time.Second)
	}
}

func tagWorld(cfg *Config) {
	cfg.Machines = []Machine{{Hostname: "ms-1", SystemID: "by43da"}, {Hostname: "ms-2", SystemID: "nn3866", Zone: "z1"}}
}
