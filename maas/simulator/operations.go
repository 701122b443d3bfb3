package simulator

import "net/http"

// operations is the API: every call that the simulator knows.
func operations() []operation {
	const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	return []operation{
		{get, "/version/", "", anyone, readVersion},

		{get, "/users/", "", users, listUsers},
		{get, "/users/", "whoami", users, whoAmI},
		{get, "/users/{username}/", "", users, readUser},

		{get, "/machines/", "", users, listMachines},
		{get, "/machines/", "list_allocated", users, listAllocated},
		{get, "/machines/", "is_registered", anyone, isRegistered},
		{post, "/machines/", "accept", anyone, acceptMachines},
		{post, "/machines/", "allocate", users, allocateMachine},
		{post, "/machines/", "release", users, releaseMachines},
		{get, "/nodes/", "", users, listMachines},
		{get, "/nodes/", "is_registered", anyone, isRegistered},
		{get, "/nodes/{system_id}/", "", viewers, readMachine},

		{get, "/machines/{system_id}/", "", viewers, readMachine},
		{put, "/machines/{system_id}/", "", machineAdmins, updateMachine},
		{del, "/machines/{system_id}/", "", machineAdmins, deleteMachine},
		{post, "/machines/{system_id}/", "deploy", editors, deployMachine},
		{post, "/machines/{system_id}/", "release", editors, releaseMachine},
		{post, "/machines/{system_id}/", "abort", editors, abortMachine},
		{post, "/machines/{system_id}/", "power_on", editors, powerOnMachine},
		{post, "/machines/{system_id}/", "power_off", editors, powerOffMachine},
		{get, "/machines/{system_id}/", "query_power_state", viewers, queryPowerState},
		{post, "/machines/{system_id}/", "set_workload_annotations", editors, setWorkloadAnnotations},
		{post, "/machines/{system_id}/", "set_owner_data", editors, setWorkloadAnnotations},
		{post, "/machines/{system_id}/", "mark_broken", editors, markBroken},
		{post, "/machines/{system_id}/", "mark_fixed", machineAdmins, markFixed},
		{post, "/machines/{system_id}/", "lock", lockers, lockMachine},
		{post, "/machines/{system_id}/", "unlock", lockers, unlockMachine},
		{post, "/machines/{system_id}/", "rescue_mode", machineAdmins, rescueMode},
		{post, "/machines/{system_id}/", "exit_rescue_mode", machineAdmins, exitRescueMode},
		{post, "/machines/{system_id}/", "commission", machineAdmins, commissionMachine},
		{post, "/machines/{system_id}/", "test", machineAdmins, testMachine},
		{post, "/machines/{system_id}/", "override_failed_testing", machineAdmins, overrideFailedTesting},

		{get, "/zones/", "", users, listZones},
		{post, "/zones/", "", admins, createZone},
		{get, "/zones/{name}/", "", users, readZone},
		{put, "/zones/{name}/", "", admins, updateZone},
		{del, "/zones/{name}/", "", admins, deleteZone},

		{get, "/resourcepools/", "", users, listPools},
		{post, "/resourcepools/", "", adminsOnly, createPool},
		{get, "/resourcepool/{id}/", "", users, readPool},
		{put, "/resourcepool/{id}/", "", adminsOnly, updatePool},
		{del, "/resourcepool/{id}/", "", adminsOnly, deletePool},

		{get, "/tags/", "", users, listTags},
		{post, "/tags/", "", adminsOnly, createTag},
		{get, "/tags/{name}/", "", users, readTag},
		{put, "/tags/{name}/", "", adminsOnly, updateTag},
		{del, "/tags/{name}/", "", adminsOnly, deleteTag},
		{get, "/tags/{name}/", "machines", users, taggedMachines},
		{get, "/tags/{name}/", "nodes", users, taggedMachines},
		{post, "/tags/{name}/", "update_nodes", users, updateTagNodes},

		{get, "/domains/", "", users, listDomains},
		{post, "/domains/", "", admins, createDomain},
		{get, "/domains/{id}/", "", users, readDomain},
		{put, "/domains/{id}/", "", admins, updateDomain},
		{del, "/domains/{id}/", "", admins, deleteDomain},
		{post, "/domains/{id}/", "set_default", adminsOnly, setDefaultDomain},

		{get, "/dnsresources/", "", users, listDNSResources},
		{post, "/dnsresources/", "", admins, createDNSResource},
		{get, "/dnsresources/{id}/", "", users, readDNSResource},
		{put, "/dnsresources/{id}/", "", adminsOnly, updateDNSResource},
		{del, "/dnsresources/{id}/", "", adminsOnly, deleteDNSResource},
		{get, "/dnsresourcerecords/", "", users, listDNSRecords},
		{post, "/dnsresourcerecords/", "", admins, createDNSRecord},
		{get, "/dnsresourcerecords/{id}/", "", users, readDNSRecord},
		{put, "/dnsresourcerecords/{id}/", "", adminsOnly, updateDNSRecord},
		{del, "/dnsresourcerecords/{id}/", "", adminsOnly, deleteDNSRecord},

		{get, "/ipaddresses/", "", users, listAddresses},
		{get, "/subnets/", "", users, listSubnets},
		{get, "/subnets/{specifier...}/", "", users, readSubnet},
		{get, "/fabrics/", "", users, listFabrics},

		{get, "/boot-resources/", "", users, listImages},
		{get, "/boot-resources/", "is_importing", users, isImporting},
		{post, "/boot-resources/", "", admins, createImage},
		{get, "/boot-resources/{id}/", "", users, readImage},
		{del, "/boot-resources/{id}/", "", admins, deleteImage},
		{put, uploadPath, "", admins, uploadImage},

		{get, "/events/", "query", users, queryEvents},
	}
}
