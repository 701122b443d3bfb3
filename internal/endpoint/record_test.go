package endpoint

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
)

func TestKindAndRecordOfACluster(t *testing.T) {
	t.Parallel()
	const dns, external = infrav1.EndpointMaasDNS, infrav1.EndpointExternal
	for name, test := range map[string]struct {
		kind      infrav1.EndpointKind
		host      string
		published string
		wantKind  infrav1.EndpointKind
		wantFQDN  string // "" for no record
	}{
		"nothing given":                       {"", "", "", dns, ""},
		"chosen":                              {dns, "c1-abc123.maas", "", dns, "c1-abc123.maas"},
		"a host of the user's":                {"", "vip.example.com", "", external, ""},
		"a host that was published before":    {"", "c1-abc123.maas", "c1-abc123.maas", dns, "c1-abc123.maas"},
		"a host that differs from what was":   {"", "vip.example.com", "c1-abc123.maas", external, ""},
		"external though published before":    {external, "c1-abc123.maas", "c1-abc123.maas", external, ""},
		"external without a host":             {external, "", "", external, ""},
		"an address cannot be a record":       {dns, "10.0.0.1", "", dns, ""},
		"an IPv6 address cannot be a record":  {dns, "fd00::1", "", dns, ""},
		"a single label cannot be a record":   {dns, "c1", "", dns, ""},
		"a final dot does not matter":         {dns, "c1.k8s.maas.", "", dns, "c1.k8s.maas"},
		"no name before the dot is no record": {dns, ".maas", "", dns, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := &infrav1.MaasCluster{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: "ns", Name: "c1", Annotations: map[string]string{infrav1.EndpointMarkAnnotation: "tok"},
				},
				Spec: infrav1.MaasClusterSpec{
					ControlPlaneEndpointKind: test.kind, ControlPlaneEndpoint: infrav1.APIEndpoint{Host: test.host},
				},
				Status: infrav1.MaasClusterStatus{Network: infrav1.MaasClusterNetwork{DNSName: test.published}},
			}
			if got := KindOf(cluster); got != test.wantKind {
				t.Errorf("kind %s, want %s", got, test.wantKind)
			}
			record, ok := RecordOf(cluster)
			if ok != (test.wantFQDN != "") {
				t.Fatalf("record %+v, %v", record, ok)
			}
			if !ok {
				return
			}
			if record.FQDN() != test.wantFQDN || record.Token != "tok" || record.Owner != "ns/c1" {
				t.Errorf("record %+v, want %s", record, test.wantFQDN)
			}
		})
	}
}

func TestOnlyTheTokenMakesAMarkOurs(t *testing.T) {
	t.Parallel()
	record := Record{Name: "c1", Domain: "maas", Token: "tok", Owner: "ns/c1"}
	txt := func(data string) maas.DNSResource {
		return maas.DNSResource{Records: []maas.DNSRecord{{Type: "MX", Data: "x"}, {Type: "TXT", Data: data}}}
	}
	for data, want := range map[string]bool{
		record.mark():                   true,
		`"` + record.mark() + `"`:       true,
		"capmaas=tok,cluster=other/one": true,
		"capmaas=tok2,cluster=ns/c1":    false,
		"capmaas=to,cluster=ns/c1":      false,
		"tok":                           false,
		"":                              false,
	} {
		if got := record.marks(txt(data)); got != want {
			t.Errorf("mark %q: ours %v, want %v", data, got, want)
		}
	}
	if (Record{Name: "c1", Domain: "maas"}).marks(txt("capmaas=,cluster=ns/c1")) {
		t.Error("a record without a token has no mark")
	}
	if record.marks(maas.DNSResource{Records: []maas.DNSRecord{{Type: "CNAME", Data: record.mark()}}}) {
		t.Error("only a TXT record is a mark")
	}
}
