package simulator

import (
	"slices"
	"strings"
)

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

// operations are those that the region's version of MAAS has.
func (r *Region) operations() []operation {
	return slices.DeleteFunc(operations(), func(o operation) bool { return strings.HasPrefix(o.path, reservedIPsPath) && !r.since(3, 6) })
}
