package webhooks

import (
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
)

// newTestCluster is a MaasCluster that is as its user wrote it.
func newTestCluster(change func(*infrav1.MaasCluster)) *infrav1.MaasCluster {
	cluster := &infrav1.MaasCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"},
		Spec:       infrav1.MaasClusterSpec{DNSDomain: "maas"},
	}
	if change != nil {
		change(cluster)
	}
	return cluster
}

// published is a MaasCluster whose endpoint CAPMAAS has chosen.
func published(c *infrav1.MaasCluster) {
	c.Finalizers = []string{infrav1.ClusterFinalizer}
	c.Annotations = map[string]string{infrav1.EndpointMarkAnnotation: "t0ken"}
	c.Spec.ControlPlaneEndpointKind = infrav1.EndpointMaasDNS
	c.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "c1-abc123.maas", Port: 6443}
}

func TestNewMaasClusters(t *testing.T) {
	t.Parallel()
	host := func(kind infrav1.EndpointKind, host string) func(*infrav1.MaasCluster) {
		return func(c *infrav1.MaasCluster) {
			c.Spec.ControlPlaneEndpointKind = kind
			c.Spec.ControlPlaneEndpoint.Host = host
		}
	}
	domain := func(name string) func(*infrav1.MaasCluster) {
		return func(c *infrav1.MaasCluster) { c.Spec.DNSDomain = name }
	}
	long := strings.Repeat("a", 64)
	for name, test := range map[string]struct {
		change func(*infrav1.MaasCluster)
		want   string // "" for accepted
	}{
		"with a domain alone": {nil, ""},
		"with a longer domain, zones, a port": {func(c *infrav1.MaasCluster) {
			c.Spec = infrav1.MaasClusterSpec{
				DNSDomain: "k8s.example.com", FailureDomains: []string{"rack-a", "rack-b"}, ControlPlaneEndpoint: infrav1.APIEndpoint{Port: 8443},
			}
		}, ""},
		"without a domain":         {domain(""), "spec.dnsDomain: Required value: must be a DNS domain of MAAS"},
		"a domain with a last dot": {domain("maas."), `spec.dnsDomain: Invalid value: "maas.": must be written without the dot`},
		"a domain in upper case":   {domain("Maas"), `spec.dnsDomain: Invalid value: "Maas": must be written in lower case`},
		"a domain with a space":    {domain("ma as"), `spec.dnsDomain: Invalid value: "ma as": must be a DNS domain of MAAS, such as`},
		"a domain with an underscore, which kubeadm refuses in a host": {domain("my_lab"), `spec.dnsDomain: Invalid value: "my_lab"`},
		"a domain with a long label":                                   {domain(long + ".com"), "labels of at most 63"},
		"an address as domain":                                         {domain("10.0.0.1"), "must be a DNS domain of MAAS, not an address"},

		"a name of the user's own":           {host("", "api.example.com"), ""},
		"an IPv4 address":                    {host(infrav1.EndpointExternal, "192.0.2.10"), ""},
		"an IPv6 address":                    {host(infrav1.EndpointExternal, "2001:db8::1"), ""},
		"a record's name":                    {host(infrav1.EndpointMaasDNS, "c1.maas"), ""},
		"a URL as host":                      {host("", "https://api.example.com"), "not a URL"},
		"a host with its port":               {host("", "192.0.2.10:6443"), "the port has its own field"},
		"an IPv6 address in brackets":        {host("", "[2001:db8::1]"), "without brackets"},
		"a host in upper case":               {host("", "API.example.com"), "must be written in lower case"},
		"a host with a last dot":             {host("", "api.example.com."), "without the dot at its end"},
		"a mistyped address":                 {host("", "192.0.2.300"), "must be a DNS name in lower case, or an IP address"},
		"the unspecified address":            {host("", "0.0.0.0"), "is not an address at which machines reach each other"},
		"a loopback":                         {host("", "127.0.0.1"), "is not an address at which machines reach each other"},
		"a host with a long label":           {host("", long+".maas"), "must be a DNS name in lower case"},
		"a record in another domain":         {host(infrav1.EndpointMaasDNS, "c1.example.com"), "must be one label and the domain, <name>.maas"},
		"a record of two labels":             {host(infrav1.EndpointMaasDNS, "a.b.maas"), "must be one label and the domain, <name>.maas"},
		"a record that is the domain itself": {host(infrav1.EndpointMaasDNS, "maas"), "must be one label and the domain, <name>.maas"},
		"an address as record": {host(infrav1.EndpointMaasDNS, "192.0.2.10"),
			`spec.controlPlaneEndpoint.host: Invalid value: "192.0.2.10": is an address, and the endpoint's kind is MaasDNS`},

		"an empty zone":  {func(c *infrav1.MaasCluster) { c.Spec.FailureDomains = []string{"a", " "} }, "spec.failureDomains[1]: Invalid value"},
		"a zone twice":   {func(c *infrav1.MaasCluster) { c.Spec.FailureDomains = []string{"a", "b", "a"} }, `spec.failureDomains[2]: Duplicate value: "a"`},
		"with LXD hosts": {lxdHosts, "spec.lxdConfig: Forbidden: LXD hosts are not supported by this provider: remove the field"},
		"moved, with all that an earlier provider stored": {func(c *infrav1.MaasCluster) {
			lxdHosts(c)
			c.Finalizers = []string{infrav1.ClusterFinalizer}
			c.Spec.DNSDomain = "Maas."
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := clusterValidator{}.ValidateCreate(t.Context(), newTestCluster(test.change))
			expectRefusal(t, err, test.want)
		})
	}
}

func lxdHosts(c *infrav1.MaasCluster) {
	c.Spec.LXDConfig = &apiextensionsv1.JSON{Raw: []byte(`{"enabled": false, "storageSize": "50"}`)}
}

func TestChangesOfMaasClusters(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, change func(*infrav1.MaasCluster)
		want           string
	}{
		"the controller writes its choice down": {nil, published, ""},
		"the controller writes down what an earlier provider published in a domain with a last dot": {func(c *infrav1.MaasCluster) {
			c.Spec.DNSDomain = "Maas."
			c.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "c1-abc123.Maas.", Port: 6443}
		}, func(c *infrav1.MaasCluster) { c.Spec.ControlPlaneEndpointKind = infrav1.EndpointMaasDNS }, ""},
		"the controller chooses a name in such a domain": {func(c *infrav1.MaasCluster) { c.Spec.DNSDomain = "Maas." }, published, ""},
		"a host is set late, and wrong": {nil, func(c *infrav1.MaasCluster) { c.Spec.ControlPlaneEndpoint.Host = "a b" },
			`spec.controlPlaneEndpoint.host: Invalid value: "a b"`},
		"another domain": {nil, func(c *infrav1.MaasCluster) { c.Spec.DNSDomain = "other" },
			`spec.dnsDomain: Forbidden: cannot be changed: the name of the control plane is in "maas"`},
		"another kind": {published, func(c *infrav1.MaasCluster) { c.Spec.ControlPlaneEndpointKind = infrav1.EndpointExternal },
			"spec.controlPlaneEndpointKind: Forbidden: cannot be changed: it is MaasDNS"},
		"no kind": {published, func(c *infrav1.MaasCluster) { c.Spec.ControlPlaneEndpointKind = "" },
			"spec.controlPlaneEndpointKind: Forbidden: cannot be changed: it is MaasDNS"},
		"another host": {published, func(c *infrav1.MaasCluster) { c.Spec.ControlPlaneEndpoint.Host = "c2.maas" },
			"spec.controlPlaneEndpoint.host: Forbidden: cannot be changed once it is set"},
		"no host": {published, func(c *infrav1.MaasCluster) { c.Spec.ControlPlaneEndpoint.Host = "" },
			"spec.controlPlaneEndpoint.host: Forbidden: cannot be changed once it is set"},
		"another port": {published, func(c *infrav1.MaasCluster) { c.Spec.ControlPlaneEndpoint.Port = 443 },
			"spec.controlPlaneEndpoint.port: Forbidden: cannot be changed once it is set"},
		"other zones": {published, func(c *infrav1.MaasCluster) { c.Spec.FailureDomains = []string{"b", "a"} }, ""},
		"wrong zones": {published, func(c *infrav1.MaasCluster) { c.Spec.FailureDomains = []string{"b", ""} }, "spec.failureDomains[1]: Invalid value"},
		"another mark": {published, func(c *infrav1.MaasCluster) { c.Annotations = map[string]string{infrav1.EndpointMarkAnnotation: "x"} },
			"metadata.annotations[infrastructure.cluster.x-k8s.io/maas-endpoint-mark]: Forbidden: cannot be changed or removed"},
		"no mark": {published, func(c *infrav1.MaasCluster) { c.Annotations = nil },
			"metadata.annotations[infrastructure.cluster.x-k8s.io/maas-endpoint-mark]: Forbidden: cannot be changed or removed"},
		"a label on one with LXD hosts": {lxdHosts, func(c *infrav1.MaasCluster) { c.Labels = map[string]string{"a": "b"} }, ""},
		"LXD hosts in another order of keys": {lxdHosts, func(c *infrav1.MaasCluster) {
			c.Spec.LXDConfig = &apiextensionsv1.JSON{Raw: []byte(`{"storageSize":"50","enabled":false}`)}
		}, ""},
		"LXD hosts removed": {lxdHosts, func(c *infrav1.MaasCluster) { c.Spec.LXDConfig = nil }, ""},
		"LXD hosts added":   {nil, lxdHosts, "spec.lxdConfig: Forbidden: LXD hosts are not supported"},
		"a bad value of long ago stays": {func(c *infrav1.MaasCluster) {
			c.Spec = infrav1.MaasClusterSpec{DNSDomain: "Maas.", FailureDomains: []string{"", ""}, ControlPlaneEndpoint: infrav1.APIEndpoint{Host: "A B"}}
		}, func(c *infrav1.MaasCluster) { c.Spec.ControlPlaneEndpoint.Port = 6443 }, ""},
		"anything on the way out": {published, func(c *infrav1.MaasCluster) {
			c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			c.Finalizers, c.Annotations = nil, nil
			c.Spec = infrav1.MaasClusterSpec{}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := newTestCluster(test.before)
			now := before.DeepCopy()
			test.change(now)
			_, err := clusterValidator{}.ValidateUpdate(t.Context(), before, now)
			expectRefusal(t, err, test.want)
		})
	}
}

// expectRefusal checks what a user would read; want is a part of it, "" for no refusal.
func expectRefusal(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && err == nil:
		t.Errorf("accepted, want refused with %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("refused with\n\t%v\nwant\n\t%s", err, want)
	case want != "" && strings.Contains(err.Error(), "\n"):
		t.Errorf("the message has more than one line: %q", err)
	}
}
