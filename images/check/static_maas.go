package check

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// What to do about most of what is found.
const (
	addPackage  = "add the package to images/debian-12/packages.txt"
	mendFiles   = "mend images/debian-12/root"
	mendHooks   = "mend images/debian-12/curtin"
	mendRecipe  = "mend images/recipe"
	mendRemoval = "have images/recipe remove it"
)

// maasChecks are what MAAS and curtin look for while they deploy, and what cloud-init needs of MAAS.
func maasChecks() []static {
	return []static{
		// MAAS 3.5: late command 98-validate-custom-image-has-cloud-init.
		{"cloud-init", "cloud-init answers, as MAAS asks it to", lookCloudInit},
		// curtin: the network is handed to cloud-init only where `cloud-init features` names this.
		{"cloud-init-features", "cloud-init takes the network as curtin passes it on", lookFeatures},
		// MAAS 3.5: late command 99-validate-custom-image-has-netplan.
		{"netplan", "netplan answers, as MAAS asks it to", lookNetplan},
		{"netplan-generate", "netplan makes files for networkd of a network as MAAS describes one", lookNetplanGenerate},
		{"datasource", "cloud-init asks MAAS first", lookDataSource},
		{"cloud-config", "cloud-init's settings are as its schema wants them", lookCloudConfig},
		{"cloud-init-units", "cloud-init is switched on", lookCloudInitUnits},
		{"curtin-hooks", "curtin finds a hook that it can run", lookHooks},
		{"curtin-hooks-rules", "the hook takes what MAAS and firmware say as it should", lookHookRules},
		{"base-image", "MAAS knows how to install on this base image", lookBaseImage},
	}
}

func lookCloudInit(ctx context.Context, r *root) (string, error) {
	said, err := r.run(ctx, "cloud-init", "--version")
	if err != nil {
		return "", problemf(addPackage+": cloud-init", "that `cloud-init --version` does not work: %v", err)
	}
	fields := strings.Fields(said)
	r.versions["cloud-init"] = fields[len(fields)-1]
	return r.versions["cloud-init"], nil
}

func lookFeatures(ctx context.Context, r *root) (string, error) {
	const feature = "NETWORK_CONFIG_V2"
	said, err := r.run(ctx, "cloud-init", "features")
	if err != nil {
		return "", problemf(addPackage+": cloud-init", "that `cloud-init features` does not work: %v", err)
	}
	if !slices.Contains(strings.Fields(said), feature) {
		return "", problemf("take a newer cloud-init", "no %s in what `cloud-init features` says: %s", feature, said)
	}
	return feature, nil
}

func lookNetplan(ctx context.Context, r *root) (string, error) {
	if said, err := r.run(ctx, "netplan", "info"); err != nil {
		return "", problemf(addPackage+": netplan.io", "that `netplan info` does not work: %v %s", err, lastWords(said))
	}
	for _, pkg := range r.manifest.Packages {
		if pkg.Name == "netplan.io" {
			r.versions["netplan"] = pkg.Version
		}
	}
	return r.versions["netplan"], nil
}

// lookNetplanGenerate tries what MAAS sends for a machine with a bond, a VLAN on it and a bridge.
func lookNetplanGenerate(ctx context.Context, r *root) (string, error) {
	const network = `network:
  version: 2
  ethernets:
    eno1: {match: {macaddress: "52:54:00:00:00:01"}, set-name: eno1, mtu: 1500}
    eno2: {match: {macaddress: "52:54:00:00:00:02"}, set-name: eno2, mtu: 1500}
  bonds:
    bond0: {interfaces: [eno1, eno2], macaddress: "52:54:00:00:00:01", parameters: {mode: 802.3ad, lacp-rate: fast}}
  vlans:
    bond0.10: {id: 10, link: bond0, addresses: [192.0.2.10/24]}
  bridges:
    br0:
      interfaces: [bond0]
      addresses: [198.51.100.10/24]
      nameservers: {addresses: [198.51.100.2], search: [maas]}
      routes: [{to: 0.0.0.0/0, via: 198.51.100.1}]
`
	const try = `mkdir -p /tmp/network/etc/netplan && cd /tmp/network && printf %s "$1" >etc/netplan/50-cloud-init.yaml && ` +
		`chmod 600 etc/netplan/50-cloud-init.yaml && netplan generate --root-dir /tmp/network && ls run/systemd/network`
	said, err := r.run(ctx, "sh", "-c", try, "sh", network)
	if err != nil {
		return "", problemf(addPackage+": netplan.io", "that `netplan generate` refuses a bond with a VLAN and a bridge: %v", err)
	}
	for _, want := range []string{"10-netplan-bond0.network", "10-netplan-bond0.10.netdev", "10-netplan-br0.network"} {
		if !slices.Contains(strings.Fields(said), want) {
			return "", problemf("see which renderer netplan uses", "no %s among the files that `netplan generate` made: %s", want, said)
		}
	}
	return "a bond, a VLAN, a bridge", nil
}

func lookDataSource(ctx context.Context, r *root) (string, error) {
	// As cloud-init itself reads its files; importing the source shows that what it needs of Python is there.
	const ask = "import cloudinit.sources.DataSourceMAAS\nfrom cloudinit import util\n" +
		"print(','.join(util.read_conf_with_confd('/etc/cloud/cloud.cfg').get('datasource_list') or ['no datasource_list']))"
	said, err := r.run(ctx, "python3", "-c", ask)
	if err != nil {
		return "", problemf(mendFiles+"/etc/cloud", "that cloud-init cannot load its source MAAS, or read its files: %v", err)
	}
	list := strings.TrimSpace(said)
	if first, _, _ := strings.Cut(list, ","); first != "MAAS" {
		return "", problemf("name MAAS first in datasource_list, in images/debian-12/root/etc/cloud", "%s", list)
	}
	return list, nil
}

func lookCloudConfig(ctx context.Context, r *root) (string, error) {
	// What is wrong there is only a warning at each start, and then has no effect, or another one.
	const validate = "from cloudinit import util\nfrom cloudinit.config.schema import get_schema, validate_cloudconfig_schema\n" +
		"validate_cloudconfig_schema(util.read_conf_with_confd('/etc/cloud/cloud.cfg'), get_schema(), strict=True)\n"
	if _, err := r.run(ctx, "python3", "-c", validate); err != nil {
		return "", problemf(mendFiles+"/etc/cloud", "settings against the schema: %v", err)
	}
	return "", nil
}

func lookCloudInitUnits(ctx context.Context, r *root) (string, error) {
	if off := r.matching("etc/cloud/cloud-init.disabled"); len(off) > 0 {
		return "", problemf(mendRemoval, "%s", paths(off))
	}
	for _, unit := range []string{"cloud-init-local.service", "cloud-init.service", "cloud-config.service", "cloud-final.service"} {
		said, err := r.run(ctx, "systemctl", "is-enabled", unit)
		if err != nil {
			return "", problemf("enable it in images/debian-12/root/etc/systemd", "that %s is not enabled: %s", unit, strings.TrimSpace(said))
		}
	}
	return "", nil
}

func lookHooks(ctx context.Context, r *root) (string, error) {
	const hook = "curtin/curtin-hooks"
	info, err := r.stat(hook)
	if err != nil || !info.Mode().IsRegular() {
		return "", problemf(mendHooks, "no file /%s", hook)
	}
	if info.Mode()&0o111 != 0o111 {
		return "", problemf(mendHooks+": chmod +x", "mode %s of /%s: curtin cannot run it", info.Mode(), hook)
	}
	text, err := r.read(hook)
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(first, "#!") || !strings.Contains(first, "python3") {
		return "", problemf(mendHooks, "%q as the first line of /%s, which is run where the installer has Python 3", first, hook)
	}
	// The installer's Python is at least that of Ubuntu 20.04; the grammar is checked as that one knows it.
	const parse = "import ast, sys\nfor name in sys.argv[1:]:\n    ast.parse(open(name).read(), name, feature_version=(3, 8))\n"
	argv := []string{"python3", "-c", parse, "/" + hook}
	for _, e := range r.matching("curtin/*.py") {
		if e.mode.Type() == fs.ModeDir {
			continue
		}
		argv = append(argv, "/"+e.path)
	}
	if _, err := r.run(ctx, argv...); err != nil {
		return "", problemf(mendHooks, "that Python 3.8 cannot parse it: %v", err)
	}
	return fmt.Sprintf("%d files of Python", len(argv)-3), nil
}

// lookBaseImage knows the systems for which MAAS has a list of what to look for. MAAS 3.5: any other base image is a KeyError in the
// region, and the deployment fails.
func lookBaseImage(_ context.Context, r *root) (string, error) {
	base := r.manifest.BaseImage
	if base == "" {
		return "not set: that of commissioning", nil
	}
	if system := path.Dir(base); !slices.Contains([]string{"ubuntu", "centos", "rhel", "suse"}, system) {
		return "", problemf("set another base image, or none, in images/recipe", "%q, and MAAS knows ubuntu, centos, rhel and suse", base)
	}
	return base, nil
}
