package controllers_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// endpointSituations: the control plane's address is not published, or not as it should be.
func endpointSituations() []situation {
	return []situation{
		{
			name:    "MAAS has no such DNS domain",
			region:  func(c *simulator.Config) { c.Domains = []simulator.Domain{{Name: "internal"}} },
			wrong:   func(*world) {},
			on:      cluster,
			shows:   "LoadBalancerReady=False DomainNotFound",
			message: "MAAS maas.example.com has no DNS domain \"maas\", in which the DNS record of the control plane has to be: make that domain in MAAS",
			event:   "EndpointFailed",
			do:      "Make the domain in MAAS. The MaasCluster's dnsDomain cannot be changed; a new cluster can name another.",
		},
		{
			name: "The DNS domain is not authoritative",
			region: func(c *simulator.Config) {
				c.Domains = []simulator.Domain{{Name: "internal"}, {Name: "maas", Unserved: true}}
			},
			wrong:   func(*world) {},
			on:      cluster,
			shows:   "LoadBalancerReady=False DomainNotAuthoritative",
			message: "MAAS maas.example.com is not authoritative for the DNS domain \"maas\", so nobody can resolve the DNS record of the control plane: make it authoritative in MAAS, unless another DNS server serves this domain; then use another dnsDomain",
			event:   "EndpointFailed",
			do:      "Make the domain authoritative in MAAS, unless another DNS server serves it: then make the MaasCluster anew with another `dnsDomain`, which cannot be changed.",
		},
		{
			name: "Somebody else's record has the control plane's name",
			wrong: func(w *world) {
				_, err := w.api(nil).CreateDNSRecord(context.Background(), maas.DNSRecordParams{Name: "prod-abc123", Domain: "maas", Type: "TXT", Data: "theirs"})
				w.must(err)
			},
			on:      cluster,
			shows:   "LoadBalancerReady=False DNSRecordNotOurs",
			message: "MAAS maas.example.com already has a DNS record prod-abc123.maas that is not this cluster's: delete it in MAAS if nobody needs it, or make the cluster anew, which gets another name",
			event:   "EndpointFailed",
			do:      "Delete the record in MAAS if nobody needs it, or make the cluster anew: its name is then another.",
		},
		{
			name:    "The API key's user may not write DNS records",
			region:  func(c *simulator.Config) { c.Users[0].Admin = false },
			wrong:   func(*world) {},
			on:      cluster,
			shows:   "LoadBalancerReady=False MAASKeyLacksRights",
			message: "MAAS maas.example.com does not let the API key's user make the DNS record prod-abc123.maas: make that user an administrator in MAAS",
			event:   "MAASUnavailable",
			note:    "the API key's user is no administrator of MAAS maas.example.com, so DNS records cannot be written: make that user an administrator in MAAS",
			do:      "Make the user an administrator in MAAS. While no machine is claimed, the key of an administrator does as well; later not, for machines stay with the user that claimed them.",
		},
		{
			name:    "An endpoint of the user's own is wanted, and its address is not given",
			wrong:   external(infrav1.APIEndpoint{}),
			on:      cluster,
			shows:   "LoadBalancerReady=False WaitForDNSName",
			message: "controlPlaneEndpointKind is External, but no address is given: set spec.controlPlaneEndpoint of MaasCluster prod",
			do:      "Set `spec.controlPlaneEndpoint` of the MaasCluster.",
			mend:    external(infrav1.APIEndpoint{Host: "10.0.0.1", Port: 6443}),
		},
		{
			name: "An IP address is given where MAAS is to have a DNS record",
			wrong: func(w *world) {
				edit(w, &infrav1.MaasCluster{}, cluster, func(c *infrav1.MaasCluster) { c.Spec.ControlPlaneEndpoint.Host = "10.20.0.9" })
			},
			on:      cluster,
			shows:   "LoadBalancerReady=False LoadBalancerFailed",
			message: "spec.controlPlaneEndpoint.host 10.20.0.9 is not a name in a DNS domain, which a DNS record in MAAS needs: make the MaasCluster anew, without a host, or, for an address of your own, with controlPlaneEndpointKind External",
			event:   "EndpointFailed",
			do:      "Make the MaasCluster anew, with `controlPlaneEndpointKind: External` for an address of your own, or without a host.",
		},
		{
			name: "A MaasCluster was made by hand, without a Cluster",
			wrong: func(w *world) {
				edit(w, &infrav1.MaasCluster{}, cluster, func(c *infrav1.MaasCluster) { c.OwnerReferences = nil })
			},
			on:      cluster,
			shows:   "LoadBalancerReady=False WaitForDNSName",
			message: "no Cluster owns this MaasCluster; Cluster API sets the owner within seconds, else make the Cluster whose spec.infrastructureRef names it",
			do:      "Make the Cluster whose infrastructureRef names it; Cluster API then sets the owner within seconds.",
		},
		{
			name: "A stranger's address stands in the control plane's DNS record",
			wrong: func(w *world) {
				w.stands()
				found, err := w.api(nil).DNSResources(context.Background(), maas.DNSResourceFilter{Name: "prod-abc123", Domain: "maas"})
				w.must(err)
				_, err = w.api(nil).UpdateDNSResource(context.Background(), found[0].ID, maas.DNSResourceParams{AddressTTL: 10, IPAddresses: []string{"10.20.0.77"}})
				w.must(err)
			},
			on:      cluster,
			shows:   "LoadBalancerReady=True LoadBalancerReady",
			message: "",
			ready:   "True Ready",
			event:   "EndpointRepaired",
			note:    "took 10.20.0.77 out of the DNS record prod-abc123.maas, where only addresses of this cluster's machines belong: look in MAAS who put it there",
			passes:  true,
			do:      "Nothing, the first time. If it happens again, look in MAAS's log of events for the user who does it.",
		},
		{
			name: "The workload API server went away",
			wrong: func(w *world) {
				w.stands()
				w.initialised()
				w.look()
				w.reached = false
			},
			on:      cluster,
			shows:   "APIServerAvailable=False APIServerNotReady",
			message: "the API server of workload cluster prod does not answer at prod-abc123.maas:6443: look at the machines of its control plane, and at the network between the management cluster and them",
			ready:   "True Ready",
			event:   "APIServerLost",
			do:      "Look at the machines of the control plane, and whether the management cluster reaches the endpoint.",
			mend:    func(w *world) { w.reached = true },
		},
	}
}

// regionSituations: MAAS itself is not what or where it should be.
func regionSituations() []situation {
	return []situation{
		{
			name:    "MAAS cannot be connected to",
			wrong:   func(w *world) { w.network.breaks() },
			on:      cluster,
			shows:   "MAASAvailable=False MAASUnreachable",
			message: "MAAS maas.example.com is not available (cannot connect: connection refused): look whether MAAS runs, and whether the management cluster reaches it",
			event:   "MAASUnavailable",
			do:      "Look whether MAAS runs, and whether the management cluster reaches it at `MAAS_ENDPOINT`.",
			mend:    (*world).heals,
		},
		{
			name: "A proxy before MAAS has no MAAS behind it",
			wrong: func(w *world) {
				w.everyAnswer(502, "text/html", "<html><body>Bad Gateway</body></html>")
			},
			on:      cluster,
			shows:   "MAASAvailable=False MAASUnreachable",
			message: "MAAS maas.example.com is not available (502 Bad Gateway): look whether MAAS runs, and whether the management cluster reaches it",
			event:   "MAASUnavailable",
			do:      "Look whether MAAS's region controllers run: a proxy before them answers in their place.",
			mend:    (*world).heals,
		},
		{
			name: "MAAS speaks TLS by now, and redirects",
			wrong: func(w *world) {
				w.network.stranger = "HTTP/1.1 301 Moved\r\nLocation: https://maas.example.com:5443/MAAS/api/2.0/users/?op=whoami\r\nContent-Length: 0\r\n\r\n"
			},
			on:      cluster,
			shows:   "MAASAvailable=False NotMAAS",
			message: "MAAS_ENDPOINT does not lead to MAAS: the address redirects: set the endpoint to https://maas.example.com:5443/MAAS",
			event:   "MAASUnavailable",
			do:      "Set `MAAS_ENDPOINT` to the address that the message names.",
			mend:    (*world).heals,
		},
		{
			name:    "The endpoint is a web page",
			wrong:   func(w *world) { w.everyAnswer(200, "text/html", "<html><body>It works!</body></html>") },
			on:      cluster,
			shows:   "MAASAvailable=False NotMAAS",
			message: "MAAS_ENDPOINT does not lead to MAAS: a web page answered, not the MAAS API: check the endpoint http://maas.example.com/MAAS (such as http://maas.example.com:5240/MAAS)",
			event:   "MAASUnavailable",
			do:      "Correct `MAAS_ENDPOINT`: it is the address of MAAS's user interface without what follows `/MAAS`.",
			mend:    (*world).heals,
		},
		{
			name: "The API key was revoked",
			wrong: func(w *world) {
				w.stands()
				w.revoked()
			},
			on:      cluster,
			shows:   "MAASAvailable=False MAASKeyRefused",
			message: "MAAS maas.example.com does not accept the API key (MAAS does not know this API key (its first part); it may have been deleted): put a key of the same MAAS user into MAAS_API_KEY (Secret capmaas-manager-bootstrap-credentials), and restart the manager",
			ready:   saysSo,
			event:   "MAASUnavailable",
			do:      "Make a key in MAAS for the same user, put it into `MAAS_API_KEY`, and restart the manager.",
			mend:    (*world).heals,
		},
		{
			name:    "The API key was copied without its last characters",
			wrong:   func(w *world) { w.startsWith(ourKey[:len(ourKey)-2]) },
			on:      cluster,
			shows:   "MAASAvailable=False MAASKeyRefused",
			message: "MAAS maas.example.com does not accept the API key (the API key's secret (its third part) is wrong): put a key of the same MAAS user into MAAS_API_KEY (Secret capmaas-manager-bootstrap-credentials), and restart the manager",
			event:   "MAASUnavailable",
			do:      "Copy the whole key from MAAS into `MAAS_API_KEY`: three parts with colons between them. Then restart the manager.",
			mend:    func(w *world) { w.startsWith(ourKey) },
		},
		{
			name:    "The API key's user was disabled in MAAS",
			region:  func(c *simulator.Config) { c.Users[0].Disabled = true },
			wrong:   func(*world) {},
			on:      cluster,
			shows:   "MAASAvailable=False MAASKeyLacksRights",
			message: "MAAS maas.example.com does not let the API key's user do what is needed (User is not allowed access to this API): look in MAAS whether that user is active, and an administrator if DNS records are to be written",
			event:   "MAASUnavailable",
			do:      "Enable the user in MAAS again. The key of another user is of no use where there are machines: they stay with the user that claimed them.",
		},
		{
			name:    "MAAS's clock is minutes ahead, and it accepts our requests still",
			wrong:   func(w *world) { w.skew = -2 * time.Minute },
			on:      cluster,
			shows:   "MAASAvailable=False ClocksDiffer",
			message: "the clock of MAAS maas.example.com is more than a minute ahead of that of the manager's host: let both take the time from NTP servers; requests still work, but MAAS refuses those that seem older than 300 seconds",
			ready:   saysSo,
			event:   "MAASUnavailable",
			do:      "Let the hosts of MAAS and of the management cluster take the time from NTP servers.",
			mend:    func(w *world) { w.skew = 0 },
		},
		{
			name:    "MAAS is too old",
			region:  func(c *simulator.Config) { c.Intercept = oldVersion },
			wrong:   func(*world) {},
			on:      cluster,
			shows:   "MAASAvailable=False MAASVersionUnsupported",
			message: "MAAS maas.example.com is of version 3.2.10, and 3.3 is the oldest that is supported: upgrade MAAS",
			ready:   saysSo,
			event:   "MAASUnavailable",
			do:      "Upgrade MAAS to 3.3 or newer.",
		},
		{
			name:    "The clocks of MAAS and of the management cluster differ",
			wrong:   func(w *world) { w.skew = -10 * time.Minute },
			on:      cluster,
			shows:   "MAASAvailable=False ClocksDiffer",
			message: "MAAS maas.example.com refuses all requests as out of date, whatever the API key, for the clock of the manager's host is more than 300 seconds behind that of MAAS: let both take the time from NTP servers",
			event:   "MAASUnavailable",
			do:      "Let the hosts of MAAS and of the management cluster take the time from NTP servers.",
			mend:    func(w *world) { w.skew = 0 },
		},
	}
}

// oldVersion answers as a MAAS that is older than any that can be simulated.
func oldVersion(req simulator.Request) simulator.Fault {
	if req.Path != "/MAAS/api/2.0/version/" {
		return simulator.Fault{}
	}
	return simulator.Fault{Status: http.StatusOK, ContentType: "application/json", Body: `{"version": "3.2.10", "subversion": "", "capabilities": []}`}
}

// removalSituations: a MaasCluster is deleted and stays.
func removalSituations() []situation {
	return []situation{
		{
			name: "Machines of the cluster still exist",
			wrong: func(w *world) {
				w.runs(worker)
				w.deleteCluster()
			},
			on:      cluster,
			shows:   "Deleting=True WaitingForMachines",
			message: "waiting for MaasMachines to be deleted: prod-md-0: look at their condition Deleting",
			passes:  true,
			do:      "Wait for them; if one stays, look at its Deleting condition. A MaasMachine whose Machine is gone has to be deleted by hand.",
			mend:    func(w *world) { w.delete(worker) },
		},
		{
			name: "The DNS record cannot be removed",
			wrong: func(w *world) {
				w.stands()
				w.region.SetIntercept(func(r simulator.Request) simulator.Fault {
					if r.Method == "DELETE" {
						return simulator.Fault{Status: 403}
					}
					return simulator.Fault{}
				})
				w.deleteCluster()
			},
			on:      cluster,
			shows:   "Deleting=True RemovingDNS",
			message: "MAAS maas.example.com does not let the API key's user delete the DNS record prod-abc123.maas: make that user an administrator in MAAS",
			event:   "MAASUnavailable",
			note:    "MAAS maas.example.com does not let the API key's user do what is needed (not permitted, no reason given: the user lacks the right): look in MAAS whether that user is active, and an administrator if DNS records are to be written",
			do:      "Make the API key's user an administrator in MAAS, or delete the record in MAAS by hand.",
			mend:    (*world).heals,
		},
		{
			name: "MAAS is away while the cluster is deleted",
			wrong: func(w *world) {
				w.stands()
				w.network.breaks()
				w.deleteCluster()
			},
			on:      cluster,
			shows:   "Deleting=True RemovingDNS",
			message: "removing the DNS record prod-abc123.maas: MAAS maas.example.com is not available (cannot connect: connection refused): look whether MAAS runs, and whether the management cluster reaches it",
			event:   "MAASUnavailable",
			note:    "MAAS maas.example.com is not available (cannot connect: connection refused): look whether MAAS runs, and whether the management cluster reaches it",
			passes:  true,
			do:      "Bring MAAS back, or the network to it. The removal goes on by itself.",
			mend:    (*world).heals,
		},
	}
}

func external(to infrav1.APIEndpoint) func(*world) {
	return func(w *world) {
		edit(w, &infrav1.MaasCluster{}, cluster, func(c *infrav1.MaasCluster) {
			c.Spec.ControlPlaneEndpointKind, c.Spec.ControlPlaneEndpoint = infrav1.EndpointExternal, to
		})
	}
}

// everyAnswer is what answers instead of MAAS.
func (w *world) everyAnswer(status int, contentType, body string) {
	w.network.stranger = fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", status, contentType, len(body), body)
}

// revoked lets MAAS know our key no longer.
func (w *world) revoked() {
	w.everyAnswer(401, "text/html; charset=utf-8", "Authorization Error: 'Invalid API key.'")
}

// heals ends all trouble between MAAS and us.
func (w *world) heals() {
	w.region.SetIntercept(nil)
	w.network.heals()
}
