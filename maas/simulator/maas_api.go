package simulator

import (
	"net/http"
	"slices"
	"strings"
)

// maasResource is a path of MAAS's API and what can be done there. MAAS 3.7:
// from its API documentation.
type maasResource struct {
	area string
	// command is what MAAS's command line calls it.
	command string
	path    string
	// plain are the reads and writes without op: c, r, u and d.
	plain string
	// gets and posts are the ops.
	gets, posts string
}

// maasResources is MAAS's whole API, so that what is not modelled can be told
// too.
func maasResources() []maasResource {
	return slices.Concat(
		inArea("Machines", machineResources()), inArea("Storage of a machine", storageResources()), inArea("Network interfaces of a machine", interfaceResources()),
		inArea("VM hosts", vmHostResources()), inArea("Pools, zones and tags", placeResources()), inArea("DNS", dnsPaths()),
		inArea("Networks", networkResources()), inArea("Images", imageResources()), inArea("Users, keys and settings", accountResources()),
		inArea("Scripts, events and notifications", scriptResources()), inArea("Controllers and devices", controllerResources()),
	)
}

func inArea(area string, resources []maasResource) []maasResource {
	for i := range resources {
		resources[i].area = area
	}
	return resources
}

func machineResources() []maasResource {
	return []maasResource{
		{
			command: "machines", path: "/machines/", plain: "rc", gets: "is_registered list_allocated power_parameters",
			posts: "accept accept_all add_chassis allocate clone release set_zone",
		},
		{
			command: "machine", path: "/machines/{system_id}/", plain: "rud", gets: "details get_curtin_config get_token power_parameters query_power_state",
			posts: "abort clear_default_gateways commission deploy exit_rescue_mode lock mark_broken mark_fixed mount_special override_failed_testing power_off power_on " +
				"release rescue_mode restore_default_configuration restore_networking_configuration restore_storage_configuration set_owner_data set_storage_layout " +
				"set_workload_annotations test unlock unmount_special",
		},
		{command: "nodes", path: "/nodes/", plain: "r", gets: "is_registered", posts: "set_zone"},
		{command: "node", path: "/nodes/{system_id}/", plain: "rd", gets: "details power_parameters"},
		{command: "node-devices", path: "/nodes/{system_id}/devices/", plain: "r"},
		{command: "node-device", path: "/nodes/{system_id}/devices/{id}/", plain: "rd"},
	}
}

func storageResources() []maasResource {
	const filesystem = "add_tag format mount remove_tag unformat unmount"
	return []maasResource{
		{command: "block-devices", path: "/nodes/{system_id}/blockdevices/", plain: "rc"},
		{command: "block-device", path: "/nodes/{system_id}/blockdevices/{id}/", plain: "rud", posts: filesystem + " set_boot_disk"},
		{command: "partitions", path: "/nodes/{system_id}/blockdevices/{device_id}/partitions/", plain: "rc"},
		{command: "partition", path: "/nodes/{system_id}/blockdevices/{device_id}/partition/{id}", plain: "rd", posts: filesystem},
		{command: "volume-groups", path: "/nodes/{system_id}/volume-groups/", plain: "rc"},
		{command: "volume-group", path: "/nodes/{system_id}/volume-group/{id}/", plain: "rud", posts: "create_logical_volume delete_logical_volume"},
		{command: "raids", path: "/nodes/{system_id}/raids/", plain: "rc"},
		{command: "raid", path: "/nodes/{system_id}/raid/{id}/", plain: "rud"},
		{command: "bcaches", path: "/nodes/{system_id}/bcaches/", plain: "rc"},
		{command: "bcache", path: "/nodes/{system_id}/bcache/{id}/", plain: "rud"},
		{command: "bcache-cache-sets", path: "/nodes/{system_id}/bcache-cache-sets/", plain: "rc"},
		{command: "bcache-cache-set", path: "/nodes/{system_id}/bcache-cache-set/{id}/", plain: "rud"},
		{command: "vmfs-datastores", path: "/nodes/{system_id}/vmfs-datastores/", plain: "rc"},
		{command: "vmfs-datastore", path: "/nodes/{system_id}/vmfs-datastore/{id}/", plain: "rud"},
	}
}

func interfaceResources() []maasResource {
	return []maasResource{
		{command: "interfaces", path: "/nodes/{system_id}/interfaces/", plain: "r", posts: "create_bond create_bridge create_physical create_vlan"},
		{
			command: "interface", path: "/nodes/{system_id}/interfaces/{id}/", plain: "rud",
			posts: "add_tag disconnect link_subnet remove_tag set_default_gateway unlink_subnet",
		},
	}
}

func vmHostResources() []maasResource {
	const posts = "add_tag compose refresh remove_tag"
	return []maasResource{
		{command: "vm-hosts", path: "/vm-hosts/", plain: "rc"},
		{command: "vm-host", path: "/vm-hosts/{id}/", plain: "rud", gets: "parameters", posts: posts},
		{command: "pods", path: "/pods/", plain: "rc"},
		{command: "pod", path: "/pods/{id}/", plain: "rud", gets: "parameters", posts: posts},
		{command: "vm-clusters", path: "/vm-clusters/", plain: "r"},
		{command: "vm-cluster", path: "/vm-clusters/{id}", plain: "rud"},
		{command: "virtual-machines", path: "/virtual-machines/", plain: "r"},
		{command: "virtual-machine", path: "/virtual-machines/{id}", plain: "r"},
	}
}

func placeResources() []maasResource {
	return []maasResource{
		{command: "zones", path: "/zones/", plain: "rc"},
		{command: "zone", path: "/zones/{name}/", plain: "rud"},
		{command: "resource-pools", path: "/resourcepools/", plain: "rc"},
		{command: "resource-pool", path: "/resourcepool/{id}/", plain: "rud"},
		{command: "tags", path: "/tags/", plain: "rc"},
		{
			command: "tag", path: "/tags/{name}/", plain: "rud", gets: "devices machines nodes rack_controllers region_controllers",
			posts: "rebuild update_nodes",
		},
	}
}

func dnsPaths() []maasResource {
	return []maasResource{
		{command: "domains", path: "/domains/", plain: "rc", posts: "set_serial"},
		{command: "domain", path: "/domains/{id}/", plain: "rud", posts: "set_default"},
		{command: "dnsresources", path: "/dnsresources/", plain: "rc"},
		{command: "dnsresource", path: "/dnsresources/{id}/", plain: "rud"},
		{command: "dnsresource-records", path: "/dnsresourcerecords/", plain: "rc"},
		{command: "dnsresource-record", path: "/dnsresourcerecords/{id}/", plain: "rud"},
	}
}

func networkResources() []maasResource {
	return []maasResource{
		{command: "subnets", path: "/subnets/", plain: "rc"},
		{command: "subnet", path: "/subnets/{id}/", plain: "rud", gets: "ip_addresses reserved_ip_ranges statistics unreserved_ip_ranges"},
		{command: "fabrics", path: "/fabrics/", plain: "rc"},
		{command: "fabric", path: "/fabrics/{id}/", plain: "rud"},
		{command: "vlans", path: "/fabrics/{fabric_id}/vlans/", plain: "rc"},
		{command: "vlan", path: "/fabrics/{fabric_id}/vlans/{vid}/", plain: "rud"},
		{command: "vlan", path: "/vlans/{vlan_id}/", plain: "rud"},
		{command: "spaces", path: "/spaces/", plain: "rc"},
		{command: "space", path: "/spaces/{id}/", plain: "rud"},
		{command: "ipaddresses", path: "/ipaddresses/", plain: "r", posts: "release reserve"},
		{command: "ipranges", path: "/ipranges/", plain: "rc"},
		{command: "iprange", path: "/ipranges/{id}/", plain: "rud"},
		{command: "reserved-ips", path: "/reservedips/", plain: "rc"},
		{command: "reserved-ip", path: "/reservedips/{id}/", plain: "rud"},
		{command: "static-routes", path: "/static-routes/", plain: "rc"},
		{command: "static-route", path: "/static-routes/{id}/", plain: "rud"},
		{command: "networks", path: "/networks/", plain: "rc"},
		{command: "network", path: "/networks/{name}/", plain: "rud", gets: "list_connected_macs", posts: "connect_macs disconnect_macs"},
		{command: "dhcpsnippets", path: "/dhcp-snippets/", plain: "rc"},
		{command: "dhcpsnippet", path: "/dhcp-snippets/{id}/", plain: "rud", posts: "revert"},
		{command: "discoveries", path: "/discovery/", plain: "r", gets: "by_unknown_ip by_unknown_ip_and_mac by_unknown_mac", posts: "clear clear_by_mac_and_ip scan"},
		{command: "discovery", path: "/discovery/{discovery_id}/", plain: "r"},
	}
}

func imageResources() []maasResource {
	return []maasResource{
		{command: "boot-resources", path: "/boot-resources/", plain: "rc", gets: "is_importing", posts: "import stop_import"},
		{command: "boot-resource", path: "/boot-resources/{id}/", plain: "rd"},
		{command: "boot-resource-file-upload", path: "/boot-resources/{id}/upload/{file_id}/", plain: "u"},
		{command: "boot-sources", path: "/boot-sources/", plain: "rc"},
		{command: "boot-source", path: "/boot-sources/{id}/", plain: "rud"},
		{command: "boot-source-selections", path: "/boot-sources/{boot_source_id}/selections/", plain: "rc"},
		{command: "boot-source-selection", path: "/boot-sources/{boot_source_id}/selections/{id}/", plain: "rud"},
		{command: "package-repositories", path: "/package-repositories/", plain: "rc"},
		{command: "package-repository", path: "/package-repositories/{id}/", plain: "rud"},
	}
}

func accountResources() []maasResource {
	return []maasResource{
		{command: "users", path: "/users/", plain: "rc", gets: "whoami"},
		{command: "user", path: "/users/{username}/", plain: "rd"},
		{
			command: "account", path: "/account/", gets: "list_authorisation_tokens",
			posts: "create_authorisation_token delete_authorisation_token update_token_name",
		},
		{command: "sshkeys", path: "/account/prefs/sshkeys/", plain: "rc", posts: "import"},
		{command: "sshkey", path: "/account/prefs/sshkeys/{id}/", plain: "rd"},
		{command: "sslkeys", path: "/account/prefs/sslkeys/", plain: "rc"},
		{command: "sslkey", path: "/account/prefs/sslkeys/{id}/", plain: "rd"},
		{command: "license-keys", path: "/license-keys/", plain: "rc"},
		{command: "license-key", path: "/license-key/{osystem}/{distro_series}", plain: "rud"},
		{command: "maas", path: "/maas/", gets: "get_config", posts: "set_config"},
		{command: "version", path: "/version/", plain: "r"},
		{command: "describe", path: "/describe/", plain: "r"},
		{command: "openapi", path: "/openapi.yaml", plain: "r"},
	}
}

func scriptResources() []maasResource {
	return []maasResource{
		{command: "events", path: "/events/", gets: "query"},
		{command: "notifications", path: "/notifications/", plain: "rc"},
		{command: "notification", path: "/notifications/{id}/", plain: "rud", posts: "dismiss"},
		{command: "node-scripts", path: "/scripts/", plain: "rc"},
		{command: "node-script", path: "/scripts/{name}", plain: "rud", gets: "download", posts: "add_tag remove_tag revert"},
		{command: "node-script-results", path: "/nodes/{system_id}/results/", plain: "r"},
		{command: "node-script-result", path: "/nodes/{system_id}/results/{id}/", plain: "rud", gets: "download"},
		{command: "node-results", path: "/installation-results/", plain: "r"},
		{command: "node-results", path: "/commissioning-results/", plain: "r"},
		{command: "commissioning-scripts", path: "/commissioning-scripts/", plain: "rc"},
		{command: "commissioning-script", path: "/commissioning-scripts/{name}", plain: "rud"},
		{command: "files", path: "/files/", plain: "rcd", gets: "get get_by_key"},
		{command: "file", path: "/files/{filename}/", plain: "rd"},
	}
}

func controllerResources() []maasResource {
	return []maasResource{
		{
			command: "rack-controllers", path: "/rackcontrollers/", plain: "r", gets: "describe_power_types is_registered power_parameters",
			posts: "import_boot_images set_zone",
		},
		{
			command: "rack-controller", path: "/rackcontrollers/{system_id}/", plain: "rud",
			gets:  "details list_boot_images power_parameters query_power_state",
			posts: "abort import_boot_images override_failed_testing power_off power_on test",
		},
		{command: "region-controllers", path: "/regioncontrollers/", plain: "r", gets: "is_registered", posts: "set_zone"},
		{command: "region-controller", path: "/regioncontrollers/{system_id}/", plain: "rud", gets: "details power_parameters"},
		{command: "devices", path: "/devices/", plain: "rc", gets: "is_registered", posts: "set_zone"},
		{
			command: "device", path: "/devices/{system_id}/", plain: "rud", gets: "details power_parameters",
			posts: "restore_default_configuration restore_networking_configuration set_owner_data set_workload_annotations",
		},
	}
}

// operations are all that can be done at a path.
func (m *maasResource) operations() []Operation {
	methods := map[rune]string{'r': http.MethodGet, 'c': http.MethodPost, 'u': http.MethodPut, 'd': http.MethodDelete}
	var out []Operation
	add := func(method, op string) {
		o := operation{method: method, path: m.path, op: op}
		out = append(out, Operation{Name: m.command + " " + o.verb(), Method: method, Path: m.path, Op: op})
	}
	for _, letter := range m.plain {
		add(methods[letter], "")
	}
	for _, op := range strings.Fields(m.gets) {
		add(http.MethodGet, op)
	}
	for _, op := range strings.Fields(m.posts) {
		add(http.MethodPost, op)
	}
	return out
}

// shape is a path without the names of its variables and slashes around it.
func shape(path string) string {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, "{") {
			segments[i] = "{}"
		}
	}
	return strings.Join(segments, "/")
}
