package integration

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// What an operator does in MAAS and in Kubernetes.

func (l *lab) operator() *maas.Client {
	l.Helper()
	operator, err := maas.New(maas.Config{Endpoint: l.server.URL, APIKey: simulator.DefaultAPIKey})
	l.Expect(err).NotTo(gomega.HaveOccurred())
	return operator
}

func (l *lab) createRecord(name string, addresses ...string) {
	l.Helper()
	_, err := l.operator().CreateDNSResource(l.Context(), maas.DNSResourceParams{Name: name, Domain: "maas", IPAddresses: addresses})
	l.Expect(err).NotTo(gomega.HaveOccurred())
}

func (l *lab) deleteRecord(fqdn string) {
	l.Helper()
	found, err := l.operator().DNSResources(l.Context(), maas.DNSResourceFilter{FQDN: fqdn})
	l.Expect(err).NotTo(gomega.HaveOccurred())
	for _, resource := range found {
		l.Expect(l.operator().DeleteDNSResource(l.Context(), resource.ID)).To(gomega.Succeed())
	}
}

// touch makes the provider look at an object now.
func (l *lab) touch(object client.Object) {
	l.Helper()
	l.Expect(l.Get(l.Context(), client.ObjectKeyFromObject(object), object)).To(gomega.Succeed())
	before := object.DeepCopyObject().(client.Object)
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	count, _ := strconv.Atoi(annotations["touched"])
	annotations["touched"] = strconv.Itoa(count + 1)
	object.SetAnnotations(annotations)
	l.Expect(l.Patch(l.Context(), object, client.MergeFrom(before))).To(gomega.Succeed())
}

// deleteDomain deletes a DNS domain, which the provider's own client never does.
func (l *lab) deleteDomain(name string) {
	l.Helper()
	key := strings.Split(simulator.DefaultAPIKey, ":")
	request, err := http.NewRequestWithContext(l.Context(), http.MethodDelete, l.server.URL+"/api/2.0/domains/"+name+"/", nil)
	l.Expect(err).NotTo(gomega.HaveOccurred())
	request.Header.Set("Authorization", fmt.Sprintf(`OAuth oauth_version="1.0", oauth_signature_method="PLAINTEXT", `+
		`oauth_consumer_key="%s", oauth_token="%s", oauth_signature="%%26%s", oauth_timestamp="%d", oauth_nonce="%d"`,
		key[0], key[1], key[2], time.Now().Unix(), time.Now().UnixNano()))
	answer, err := http.DefaultClient.Do(request)
	l.Expect(err).NotTo(gomega.HaveOccurred())
	l.Expect(answer.Body.Close()).To(gomega.Succeed())
	l.Expect(answer.StatusCode).To(gomega.Equal(http.StatusNoContent))
}

// addAddress adds an address to a record, behind the provider's back.
func (l *lab) addAddress(fqdn, address string) {
	l.Helper()
	found, err := l.operator().DNSResources(l.Context(), maas.DNSResourceFilter{FQDN: fqdn})
	l.Expect(err).NotTo(gomega.HaveOccurred())
	l.Expect(found).To(gomega.HaveLen(1))
	_, err = l.operator().UpdateDNSResource(l.Context(), found[0].ID, maas.DNSResourceParams{IPAddresses: append(found[0].IPs(), address)})
	l.Expect(err).NotTo(gomega.HaveOccurred())
}
