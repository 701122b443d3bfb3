package controllers_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

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
