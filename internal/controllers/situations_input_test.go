package controllers_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// imageSituations: MAAS knows the image, and cannot deploy a machine with it.
func imageSituations() []situation {
	return []situation{
		{
			name: "The image is still being uploaded, or its upload was interrupted",
			wrong: func(w *world) {
				w.begins("custom/u-2604")
				w.add(worker, func(m *infrav1.MaasMachine) { m.Spec.Image = "custom/u-2604" })
			},
			shows:   "MachineAllocated=False ImageIncomplete",
			message: "MAAS maas.example.com has image custom/u-2604 in part only, which spec.image of MaasMachine default/prod-md-0 asks for: wait until it is complete, or upload it again if nobody uploads it any more",
			others: []string{
				"prod CheckFailed: MAAS maas.example.com has image custom/u-2604 in part only, which spec.image of MaasMachine default/prod-md-0 asks for: wait until it is complete, or upload it again if nobody uploads it any more",
			},
			do:   "Wait for the upload, or upload the image again. No machine is claimed before, for MAAS would refuse to deploy it.",
			mend: func(w *world) { w.completes(w.begins("custom/u-2604")) },
		},
		{
			name: "The image is there, but not for the architecture of any machine",
			region: func(c *simulator.Config) {
				for i := range c.Machines {
					c.Machines[i].Architecture = "arm64/generic"
				}
			},
			wrong:   adds(worker),
			shows:   "MachineAllocated=False NoMachineAvailable",
			message: "no machine available: none of 3 machines is of an architecture for which MAAS has image custom/u-2404 (amd64): upload or import it for the machines' architecture too, or correct spec.image in a new MaasMachineTemplate",
			event:   "NoMachineAvailable",
			do:      "Upload the image for that architecture too, or name another one in a new MaasMachineTemplate.",
		},
	}
}

// dataSituations: the bootstrap data is there, and no machine can be made of it.
func dataSituations() []situation {
	return []situation{
		{
			name:    "The Secret with the bootstrap data is empty",
			wrong:   addsWith(func(s *corev1.Secret) { delete(s.Data, "value") }),
			shows:   "MachineAllocated=False WaitingForBootstrapData",
			message: "the Secret prod-md-0-bootstrap with the bootstrap data of Machine prod-md-0 has nothing under the key \"value\": look at KubeadmConfig prod-md-0",
			do:      "Look at what makes the bootstrap data: the data has to be under the key `value`.",
			mend:    hasData(userData),
		},
		{
			name:    "Cloud-init can make nothing of the bootstrap data",
			wrong:   addsWith(func(s *corev1.Secret) { s.Data["value"] = []byte("# for workers\n" + userData) }),
			shows:   "MachineAllocated=False InvalidBootstrapData",
			message: "the bootstrap data of Machine prod-md-0 in Secret prod-md-0-bootstrap begins with nothing that cloud-init knows, such as #cloud-config or #!: correct what makes it, and delete Machine prod-md-0 in Kubernetes to get another",
			event:   "InvalidBootstrapData",
			do:      "Correct what makes the bootstrap data. Cloud-init knows data by its beginning, so that nothing may stand before it, not even a comment. A machine would start with such data, and never join.",
			mend:    hasData(userData),
		},
		{
			name:    "The bootstrap data is larger than MAAS takes",
			wrong:   addsWith(func(s *corev1.Secret) { s.Data["value"] = append([]byte(userData), much()...) }),
			shows:   "MachineAllocated=False BootstrapDataTooLarge",
			message: "the bootstrap data of Machine prod-md-0 has 8.0 MiB, which makes a request of 10.7 MiB, and MAAS takes at most 10.0 MiB: make its files fewer or shorter in the KubeadmControlPlane, or in a new KubeadmConfigTemplate that the MachineDeployment refers to",
			event:   "InvalidBootstrapData",
			do:      "Make files in the KubeadmConfigTemplate fewer or shorter, or let machines download what is large. Kubernetes itself takes 1 MiB in a Secret, unless its API server was built otherwise.",
			mend:    hasData(userData),
		},
		{
			name: "The join token in the bootstrap data is gone, after a long pause",
			wrong: func(w *world) {
				w.stands()
				w.initialised()
				addsWith(func(s *corev1.Secret) { s.Data["value"] = []byte(joining) })(w)
			},
			shows:   "MachineAllocated=False BootstrapTokenExpired",
			message: "the join token in the bootstrap data of Machine prod-md-0 is not valid in the workload cluster any more, so no machine can join with it: delete Machine prod-md-0 in Kubernetes to get another",
			event:   "InvalidBootstrapData",
			do:      "Delete the Machine to get another, with a new token. Tokens live for a quarter of an hour, and Cluster API lengthens that until the Node has joined, but not while the Cluster is paused or its API server is away.",
			mend:    func(w *world) { w.hasToken(w.now().Add(365 * 24 * time.Hour)) },
		},
		{
			name: "The join token in the bootstrap data has expired, and Cluster API can renew it",
			wrong: func(w *world) {
				w.stands()
				w.initialised()
				w.hasToken(w.now().Add(-time.Minute))
				addsWith(func(s *corev1.Secret) { s.Data["value"] = []byte(joining) })(w)
			},
			shows:   "MachineAllocated=False BootstrapTokenExpired",
			message: "the join token in the bootstrap data of Machine prod-md-0 has expired: Cluster API renews it while Cluster default/prod is not paused; if it does not, delete Machine prod-md-0 in Kubernetes to get another",
			event:   "InvalidBootstrapData",
			do:      "Unpause the Cluster, if it is paused, and wait some minutes. If it stays so, delete the Machine to get another.",
			mend:    func(w *world) { w.hasToken(w.now().Add(365 * 24 * time.Hour)) },
		},
	}
}

// joining is bootstrap data with which kubeadm joins.
const joining = userData + `write_files:
- path: /run/kubeadm/kubeadm-join-config.yaml
  content: |
    discovery:
      bootstrapToken:
        apiServerEndpoint: prod-abc123.maas:6443
        token: abc123.0123456789abcdef
`

// hasToken makes the token of joining, as Cluster API would, or gives it another life.
func (w *world) hasToken(expires time.Time) {
	w.Helper()
	token := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-abc123"},
		Data:       map[string][]byte{"expiration": []byte(expires.UTC().Format(time.RFC3339))},
	}
	err := w.workload.Create(context.Background(), token)
	if apierrors.IsAlreadyExists(err) {
		err = w.workload.Update(context.Background(), token)
	}
	w.must(err)
}

// addsWith adds a worker with other bootstrap data.
func addsWith(change func(*corev1.Secret)) func(*world) {
	return func(w *world) {
		w.add(worker)
		edit(w, &corev1.Secret{}, worker+"-bootstrap", change)
	}
}

// hasData gives the worker bootstrap data.
func hasData(data string) func(*world) {
	return func(w *world) {
		edit(w, &corev1.Secret{}, worker+"-bootstrap", func(s *corev1.Secret) { s.Data = map[string][]byte{"value": []byte(data)} })
	}
}

// much is 8 MiB of comments.
func much() []byte { return bytes.Repeat([]byte("# nothing"), 8<<20/9) }

// content is that of an image; nobody boots it.
const content = "an image"

// begins announces an image to MAAS, whose content is to follow.
func (w *world) begins(name string) *maas.BootResource {
	w.Helper()
	sum := sha256.Sum256([]byte(content))
	made, err := w.api(nil).CreateBootResource(context.Background(), maas.BootResourceParams{
		Name: name, Architecture: "amd64/generic", SHA256: hex.EncodeToString(sum[:]), Size: int64(len(content)),
	})
	w.must(err)
	return made
}

// completes sends the content.
func (w *world) completes(image *maas.BootResource) {
	w.Helper()
	file, ok := image.Content()
	if !ok {
		w.Fatal("the image has no file")
	}
	w.must(w.api(nil).UploadBootResource(context.Background(), file.UploadURI, []byte(content)))
}
