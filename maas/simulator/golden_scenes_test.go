package simulator

import (
	"encoding/json"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"time"
)

// play sends a request that the recording's fixtures made by other means.
func (w *world) play(auth, method, path, op string, form ...[2]string) {
	w.t.Helper()
	var ex exchange
	ex.Request.Auth, ex.Request.Method, ex.Request.Path, ex.Request.Form = auth, method, apiPrefix+path, form
	if op != "" {
		ex.Request.Query = [][2]string{{"op", op}}
	}
	if got := w.send(&ex); got.Code >= 300 {
		w.t.Fatalf("%s %s: %d %s", method, path, got.Code, got.Body)
	}
}

// settle lets the power change that a version does not wait for.
func (w *world) settle() {
	if !w.region.since(3, 5) {
		w.clock.Advance(2 * recordedPower)
	}
}

func (w *world) add(m Machine) {
	w.t.Helper()
	if _, err := w.region.AddMachine(m); err != nil {
		w.t.Fatal(err)
	}
}

// deployBefore lets power change, and fills and frees a small subnet.
func deployBefore(w *world, ex *exchange) {
	w.clock.Advance(time.Second)
	small := w.region.state.subnets.rows[3]
	switch ex.Name {
	case "deploy.ip-exhausted":
		all, err := parseRange("10.30.0.1-10.30.0.14")
		if err != nil {
			w.t.Fatal(err)
		}
		small.reserved = []addrRange{all}
		w.add(Machine{Hostname: "dp-13", SystemID: "ara8q8", Subnet: "net30"})
	case "deploy.ip-exhausted.retry":
		small.reserved = nil
	}
}

// machineBefore finishes the deploy of the machine whose JSON is compared.
func machineBefore(w *world, ex *exchange) {
	var f func(*tx, *machine)
	switch ex.Name {
	case "machine.json.deployed":
		f = (*tx).fetchedUserData
	case "machine.unlock":
		if w.region.since(3, 5) {
			return
		}
		f = func(t *tx, m *machine) { edit(t, m).powerState = "on" } // by then it had started
	case "machine.release.power-stays-on":
		f = func(t *tx, m *machine) { edit(t, m).powerState = "on" }
	default:
		return
	}
	if err := w.region.act("e7wd6m", f); err != nil {
		w.t.Fatal(err)
	}
}

// otherStateBefore makes the machines that were read in other states.
func otherStateBefore(w *world, ex *exchange) {
	id := machineOfPath(ex.Request.Path)
	switch ex.Name {
	case "machine.json.failed-deployment":
		w.replace["10.20.1.22"] = "10.20.0.3"
		w.add(Machine{Hostname: "json-2", SystemID: id})
		w.force(id, fixture{status: StatusFailedDeployment, owner: "admin", power: "on"})
		if err := w.region.act(id, func(t *tx, m *machine) { edit(t, m).errorDescription = "curtin failed" }); err != nil {
			w.t.Fatal(err)
		}
	case "machine.json.commissioning":
		w.add(Machine{Hostname: "json-4", SystemID: id, NeverCommissioned: true})
		w.force(id, fixture{status: StatusCommissioning, owner: "admin"})
	case "machine.json.new-bare":
		fresh := StatusNew
		w.add(Machine{Hostname: "json-5", SystemID: id, NeverCommissioned: true, PowerType: "manual", DiskGB: -1, Subnet: "none", Status: &fresh})
	}
}

// repairBefore breaks a deployed machine, as its owner would.
func repairBefore(w *world, ex *exchange) {
	switch ex.Name {
	case "power_on.deployed.after":
		w.settle()
	case "mark_fixed.by-user":
		ex.StateBefore = "Ready" // as its row says, for the words call it Broken
	case "mark_fixed.broken":
		w.add(Machine{Hostname: "br-1", SystemID: "tscmgk"})
		w.force("tscmgk", fixture{status: StatusDeployed, owner: "admin", power: "on"})
		w.play("admin", "POST", "/machines/tscmgk/", "mark_broken")
		w.settle()
	}
}

func domainBefore(w *world, ex *exchange) {
	switch ex.Name {
	case "domain.delete.with-records":
		w.play("admin", "POST", "/dnsresources/", "", [2]string{"fqdn", "x.c9.example"}, [2]string{"ip_addresses", "10.20.3.9"})
	case "domain.delete.with-machine":
		w.add(Machine{Hostname: "ms-3", SystemID: "gtprky", Domain: "c1.example"})
	}
}

// dnsBefore makes the machines whose addresses the records hold.
func dnsBefore(w *world, ex *exchange) {
	if ex.Name != "dns.list.m.5-while-releasing" {
		w.clock.Advance(time.Second)
	}
	deployed := fixture{status: StatusDeployed, owner: "admin", power: "on", known: true}
	switch ex.Name {
	case "dns.m.1-deploy":
		w.replace["10.20.0.213"] = "10.20.0.3"
		w.add(Machine{Hostname: "dnsm-1", SystemID: "dp6848"})
	case "dns.list.all-true-domain":
		w.replace["6dkemr"] = rackID
	case "dns.update.by-id-of-ip":
		row := w.region.state.byAddress[netip.MustParseAddr("10.20.0.220")][0]
		ex.Request.Form[0][1] = strconv.Itoa(row)
	case "dns.n.1-create":
		w.add(Machine{Hostname: "dnsm-2", SystemID: "gfmgrb", MAC: "52:54:00:00:00:02"})
		w.force("gfmgrb", deployed)
	case "dns.list.n.2-after-release":
		w.play("admin", "POST", "/machines/gfmgrb/", "release")
		w.settle()
	case "dns.o.1-create":
		w.add(Machine{Hostname: "dnsm-3", SystemID: "m4xgpb"})
		w.force("m4xgpb", deployed)
	}
}

// eventsBefore gives the machine of the recording its history.
func eventsBefore(w *world, ex *exchange) {
	w.clock.Advance(time.Second)
	switch ex.Name {
	case "events.deploy":
		w.region.state.events = []*event{{id: 9, level: levelAudit}}
		w.add(Machine{Hostname: "ev-1", SystemID: "wmyxk8"})
		w.play("admin", "POST", "/machines/", "allocate", [2]string{"agent_name", "ev-ag"}, [2]string{"comment", "for c1"})
	case "events.id":
		w.play("admin", "POST", "/machines/wmyxk8/", "release")
		w.settle()
	}
}

// learn remembers what this world calls the key that a recording made.
func (w *world) learn(ex *exchange, got *httptest.ResponseRecorder) {
	if ex.Name != "account.token.create" {
		return
	}
	var made struct {
		Consumer string `json:"consumer_key"`
		Key      string `json:"token_key"`
		Secret   string `json:"token_secret"`
	}
	if err := json.Unmarshal(got.Body.Bytes(), &made); err != nil {
		w.t.Fatal(err)
	}
	w.replace["<NEWC>"], w.replace["<NEWT>"], w.replace["<NEWS>"] = made.Consumer, made.Key, made.Secret
}

// detailsBefore makes the machines whose details the recordings ask for.
func detailsBefore(w *world, ex *exchange) {
	bmc := map[string]string{"power_user": "maas", "power_driver": "LAN_2_0", "power_address": "10.9.0.7", "power_pass": "x"}
	w.replace["<archive>"] = "archive.ubuntu.com/ubuntu"
	switch ex.Name {
	case "list.power_parameters":
		w.add(Machine{Hostname: "other", SystemID: "hthr88"})
		w.add(Machine{Hostname: "list-1", SystemID: ex.Request.Query[1][1], PowerParameters: bmc})
	case "get_curtin_config.deployed":
		w.add(Machine{Hostname: "mi-1", SystemID: machineOfPath(ex.Request.Path)})
		w.force(machineOfPath(ex.Request.Path), fixture{status: StatusDeployed, owner: "user", known: true})
	case "get_curtin_config.ready":
		w.add(Machine{Hostname: "mi-2", SystemID: machineOfPath(ex.Request.Path)})
	}
}
