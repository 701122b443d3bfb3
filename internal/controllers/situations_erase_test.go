package controllers_test

import (
	"time"

	infrav1 "github.com/capmaas/cluster-api-provider-maas/api/v1beta1"
	"github.com/capmaas/cluster-api-provider-maas/maas/simulator"
)

// erases lets the worker's disks be erased when it is given back.
func erases(how infrav1.Erase) func(*world) {
	return func(w *world) {
		edit(w, &infrav1.MaasMachine{}, worker, func(m *infrav1.MaasMachine) { m.Spec.Release.Erase = how })
	}
}

// scripts lets release scripts run on the worker.
func scripts(names ...string) func(*world) {
	return func(w *world) {
		edit(w, &infrav1.MaasMachine{}, worker, func(m *infrav1.MaasMachine) { m.Spec.Release.Scripts = names })
	}
}

// fails makes hardware fail at a moment.
func (w *world) fails(at simulator.Moment, words string) {
	w.region.SetHardware(func(e simulator.HardwareEvent) simulator.Trouble {
		if e.Moment == at {
			return simulator.Trouble{Fail: words}
		}
		return simulator.Trouble{}
	})
}

// version is of MAAS.
func version(of string) func(*simulator.Config) {
	return func(c *simulator.Config) { c.Version = of }
}

// eraseSituations: a machine is to be given back with its disks erased, or with release scripts.
func eraseSituations() []situation {
	return []situation{
		{
			name:   "The machine's disks are being erased",
			region: func(c *simulator.Config) { c.Durations.Erase = time.Hour },
			wrong: deleted(func(w *world, _ string) error {
				erases(infrav1.EraseFull)(w)
				return nil
			}),
			shows:   "Deleting=True ErasingDisks",
			message: "the disks of machine node1 (aaaaa1) in MAAS maas.example.com are being erased, as spec.release.erase asks (Full): wait, for it takes from minutes to hours; once it goes well, MAAS is left to finish it",
			passes:  true,
			do: "Wait. The MaasMachine goes when the machine is free, or when its disks have been erased for 20 minutes without trouble: MAAS is " +
				"left to finish what takes longer. What goes wrong after that is to be seen in MAAS alone: the machine is in state `Failed disk erasing` then.",
			mend: func(w *world) { w.clock.Advance(time.Hour) },
		},
		{
			name: "Erasing the machine's disks failed",
			wrong: deleted(func(w *world, _ string) error {
				erases(infrav1.EraseQuick)(w)
				w.fails(simulator.MomentErase, "wipe-disks failed on sda")
				return nil
			}),
			after:   5 * time.Minute,
			shows:   "Deleting=True ReleaseFailed",
			message: "erasing the disks of machine node1 (aaaaa1) in MAAS maas.example.com failed (MAAS says: wipe-disks failed on sda): CAPMAAS tries again; or set spec.release.erase to None, leaving the data there; or give up with annotation infrastructure.cluster.x-k8s.io/maas-abandon=<reason>",
			event:   "ReleaseFailed",
			do: "Look at the machine in MAAS: its disks, and whether it boots from the network. It is tried again by itself, after ten minutes at most. " +
				"To release the machine with the data on its disks, set `spec.release.erase` of the MaasMachine to `None`; or mark it broken in MAAS, " +
				"and switch it off. For hardware beyond hope there is the annotation `infrastructure.cluster.x-k8s.io/maas-abandon`, with the reason as its value.",
			mend: func(w *world) { w.region.SetHardware(nil) },
		},
		{
			name: "Somebody had the disks erased by hand, which failed, and then the Machine was deleted",
			wrong: deleted(func(w *world, id string) error {
				w.must(w.region.SetStatus(id, simulator.StatusFailedDiskErasing))
				return nil
			}),
			shows:   "Deleting=True ReleaseFailed",
			message: "erasing the disks of machine node1 (aaaaa1) in MAAS maas.example.com failed, and who wanted that is not known: set spec.release.erase to None to release it with its data, or else to Quick, Secure or Full",
			event:   "ReleaseFailed",
			do: "Find out who wanted the disks erased. Set `spec.release.erase` of the MaasMachine to `Quick`, `Secure` or `Full` to have them erased again, " +
				"or to `None` to release the machine with the data on them.",
			mend: erases(infrav1.EraseNone),
		},
		{
			name: "The release of the machine failed",
			wrong: deleted(func(w *world, _ string) error {
				w.fails(simulator.MomentRelease, "script reset-bios failed")
				return nil
			}),
			after:   5 * time.Minute,
			shows:   "Deleting=True ReleaseFailed",
			message: "the release of machine node1 (aaaaa1) in MAAS maas.example.com failed (MAAS says: script reset-bios failed): look at it in MAAS, above all at its power settings; CAPMAAS tries again by itself",
			event:   "ReleaseFailed",
			do: "Look at the machine in MAAS: its power settings, its BMC, and the output of release scripts. It is tried again by itself, after ten minutes at most. " +
				"For hardware beyond hope there is the annotation `infrastructure.cluster.x-k8s.io/maas-abandon` on the MaasMachine, with the reason as its value.",
			mend: func(w *world) { w.region.SetHardware(nil) },
		},
		{
			name:   "MAAS 3.4 cannot run release scripts, and a machine is wanted",
			region: version("3.4.10"),
			wrong: func(w *world) {
				w.add(worker, func(m *infrav1.MaasMachine) { m.Spec.Release.Scripts = []string{"reset-bios"} })
			},
			shows:   "MachineAllocated=False ReleaseScriptsUnsupported",
			message: "MAAS maas.example.com is of version 3.4.10, and release scripts need 3.5: remove spec.release.scripts of MaasMachine prod-md-0, or upgrade MAAS",
			do:      "Remove `spec.release.scripts` from the MaasMachine, and from its MaasMachineTemplate by making another one without; or upgrade MAAS.",
			mend:    scripts(),
		},
		{
			name:   "MAAS 3.4 cannot run release scripts, and the Machine is deleted",
			region: version("3.4.10"),
			wrong: deleted(func(w *world, _ string) error {
				scripts("reset-bios")(w)
				return nil
			}),
			shows:   "Deleting=True ReleaseBlocked",
			message: "MAAS maas.example.com is of version 3.4.10, and release scripts need 3.5: remove spec.release.scripts of MaasMachine prod-md-0, or upgrade MAAS",
			event:   "ReleaseFailed",
			do:      "Remove `spec.release.scripts` from the MaasMachine: it may be changed also while the object is being deleted. The release then goes on, without the scripts.",
			mend:    scripts(),
		},
		{
			name: "MAAS has no release script of that name",
			wrong: deleted(func(w *world, _ string) error {
				scripts("reset-bois")(w)
				return nil
			}),
			shows:   "Deleting=True ReleaseFailed",
			message: "MAAS maas.example.com refuses to release machine node1 (aaaaa1) as spec.release of MaasMachine prod-md-0 asks (scripts: Select a valid choice. reset-bois is not one of the available choices): correct that; CAPMAAS tries again by itself",
			event:   "ReleaseFailed",
			do:      "Correct `spec.release.scripts` of the MaasMachine, or add the script to MAAS. It may be changed also while the object is being deleted. The release then goes on.",
			mend:    scripts(),
		},
	}
}
