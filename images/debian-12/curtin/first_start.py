"""What cloud-init has to know at the first start: where MAAS is, and the network to reach it by."""

import os
import re

import yaml

from deployment import Problem, say, section

FOLDER = "etc/cloud/cloud.cfg.d"

# They hold the key by which MAAS knows the machine.
SECRET = 0o600


def write_data_source(config, target):
    """MAAS's files, by the names that it gives them.

    Debian's package of cloud-init could take the same from debconf, but its code for that is for Python 2.
    """
    known = False
    for name, entry in sorted(section(config, "cloudconfig").items()):
        file = os.path.basename(entry.get("path") or "50-%s.cfg" % name)
        content = entry.get("content") or ""
        known = known or "metadata_url" in content
        target.write(os.path.join(FOLDER, file), content + "\n", SECRET)
    if not known:
        raise Problem(
            "MAAS did not say where its metadata is (no metadata_url in 'cloudconfig' of curtin's configuration), so the machine would "
            "stay in Deploying: is there a changed preseed, curtin_userdata_custom, on the region controller?")
    local = local_config(section(config, "debconf_selections"))
    if local:
        target.write(os.path.join(FOLDER, "90_maas_local.cfg"), "#cloud-config\n" + local, SECRET)


def local_config(selections):
    """What MAAS sends for debconf to hand to cloud-init. It keeps machines from asking MAAS at every start."""
    found = re.search(r"^\s*cloud-init\s+cloud-init/local-cloud-config\s+string\s(.*)$", "\n".join(
        value for value in selections.values() if isinstance(value, str)), re.MULTILINE)
    if not found:
        return ""
    local = re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match.group(1), match.group(1)), found.group(1))
    if not isinstance(yaml.safe_load(local), dict):
        raise Problem("what MAAS sends for debconf as cloud-init/local-cloud-config is not a map")
    return local


def write_network(said, target):
    """As MAAS says it: cloud-init in this image understands both versions, and makes netplan's files of them."""
    if not said.network:
        say("MAAS says nothing of the network: the machine will ask for an address on its first interface")
        return
    target.write(os.path.join(FOLDER, "50-curtin-networking.cfg"), yaml.safe_dump(said.network, default_flow_style=False), SECRET)


def write_proxy(config, target):
    """MAAS's proxy for packages. Its package sources are Ubuntu's, and stay out."""
    apt = section(config, "apt")
    lines = []
    for scheme in ("http", "https"):
        proxy = apt.get(scheme + "_proxy") or (apt.get("proxy") if scheme == "http" else None)
        if proxy:
            lines.append('Acquire::%s::Proxy "%s";\n' % (scheme, proxy))
    if lines:
        target.write("etc/apt/apt.conf.d/90-maas-proxy", "".join(lines))
