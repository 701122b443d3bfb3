package v1beta1

// Conditions of a MaasRemediation. There is one beside Paused: a MaasRemediation that came to a good end is deleted.
const (
	// RemediationRemediatingCondition tells what is being done about a machine whose health check failed. It is False where nothing is done, or
	// nothing any more.
	RemediationRemediatingCondition = "Remediating"
)

// Reasons of Remediating, beside MachineLocked. While MAAS cannot be read, the reasons of MAASAvailable of a MaasCluster stand here too.
const (
	// RemediationPoweringOffReason: the machine is being switched off, to be switched on again.
	RemediationPoweringOffReason = "PoweringOff"
	// RemediationPoweringOnReason: the machine was off, and is being switched on again.
	RemediationPoweringOnReason = "PoweringOn"
	// RemediationWaitingForNodeReason: the machine was switched on again, and its Node has the time of `timeout` to become healthy. The
	// MachineHealthCheck deletes the MaasRemediation then.
	RemediationWaitingForNodeReason = "WaitingForNodeHealth"
	// RemediationCoolingDownReason: the Node did not become healthy in time, and the next power cycle waits for `coolDown`.
	RemediationCoolingDownReason = "CoolingDown"
	// RemediationWaitingForPeerReason: another machine of the control plane is being switched off and on again; one goes after the other.
	RemediationWaitingForPeerReason = "WaitingForOtherControlPlaneMachine"
	// RemediationPowerFailedReason: MAAS cannot switch the machine off or on; the message has its words. Do: check the power settings of the
	// machine in MAAS, and its BMC. It is tried again until `timeout` is over.
	RemediationPowerFailedReason = "PowerControlFailed"
	// RemediationSwitchingOffReason: the machine was given up, and is switched off before it is handed over, so that nothing runs on it while
	// its Pods start elsewhere. After 10 minutes it is handed over anyway.
	RemediationSwitchingOffReason = "SwitchingOff"
	// RemediationHandedOverReason: nothing else is done: it is for Cluster API to replace the Machine. The message says why. Do: if the Machine
	// stays, look at its condition OwnerRemediated: its owner may refuse, as a control plane with one machine does.
	RemediationHandedOverReason = "HandedOver"
	// RemediationBlockedReason: something is missing without which nothing can be done; the message says what.
	RemediationBlockedReason = "RemediationBlocked"
	// RemediationNotUnhealthyReason: no health check says that the Machine is unhealthy, so its machine is left alone. The MachineHealthCheck
	// deletes the MaasRemediation. Do: if it stays, because that MachineHealthCheck is gone or somebody made it by hand, delete it.
	RemediationNotUnhealthyReason = "MachineNotUnhealthy"
	// RemediationSkippedReason: the Machine has the annotation `cluster.x-k8s.io/skip-remediation`. Do: see to the machine; then remove the
	// annotation, or delete the MaasRemediation.
	RemediationSkippedReason = "RemediationSkipped"
	// RemediationSupersededReason: another MaasRemediation is for the same Machine, and goes first. Do: delete one of them.
	RemediationSupersededReason = "RemediationSuperseded"
	// RemediationMachineDeletingReason: the Machine is being deleted, and the MaasRemediation goes with it.
	RemediationMachineDeletingReason = "OwnerMachineDeleting"
)
