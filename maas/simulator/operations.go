package simulator

import "slices"

// operations is the API: every call that the simulator knows, each registered
// beside what carries it out.
func operations() []operation {
	return slices.Concat(
		versionOperations(),
		userOperations(),
		accountOperations(),
		settingOperations(),
		fileOperations(),
		rackOperations(),
		reservedIPOperations(),
		machineListOperations(),
		machineCreateOperations(),
		machineAcceptOperations(),
		nodeOperations(),
		machineOperations(),
		machineDetailOperations(),
		interfaceOperations(),
		zoneOperations(),
		poolOperations(),
		tagOperations(),
		domainOperations(),
		dnsResourceOperations(),
		dnsRecordOperations(),
		addressOperations(),
		vmHostOperations(),
		subnetOperations(),
		rangeOperations(),
		fabricOperations(),
		spaceOperations(),
		imageOperations(),
		eventOperations(),
	)
}
