"""The machine's disks: what is on them, and which one its firmware starts from."""

import glob
import os
import subprocess

from deployment import Problem, say, text

# What must be in the image for a machine to start from such storage: program, and the package that has it.
TOOLS = {
    "raid": ("mdadm", "mdadm"),
    "lvm_volgroup": ("lvm", "lvm2"),
    "lvm_partition": ("lvm", "lvm2"),
    "bcache": ("bcache-super-show", "bcache-tools"),
    "dm_crypt": ("cryptsetup", "cryptsetup-initramfs"),
    "zpool": ("zpool", "zfs-initramfs"),
    "zfs": ("zfs", "zfs-initramfs"),
    "btrfs": ("btrfs", "btrfs-progs"),
    "xfs": ("fsck.xfs", "xfsprogs"),
}


def check_tools(actions, target):
    """Better now than at the machine's first start, where nobody looks."""
    kinds = {action.get("type") for action in actions} | {action.get("fstype") for action in actions}
    for kind in sorted(kinds & set(TOOLS)):
        program, package = TOOLS[kind]
        if not target.has_program(program):
            raise Problem(
                "the machine's storage layout has %s, for which this image lacks the package %s: choose another layout in MAAS, "
                "or add the package to the image's list and build it anew" % (kind, package))


def write_tables(said, target):
    """What curtin learned while it made the file systems, put where the installed system looks for it."""
    if not any(line.split()[1:2] == ["/"] for line in said.fstab.splitlines() if not line.lstrip().startswith("#")):
        raise Problem("curtin's table of file systems (OUTPUT_FSTAB) does not say what is mounted at /")
    target.write("etc/fstab", "# Written when this machine was installed.\n" + said.fstab)
    for name, place in (("mdadm.conf", "etc/mdadm/mdadm.conf"), ("crypttab", "etc/crypttab")):
        content = text(os.path.join(said.state, name))
        if name == "mdadm.conf" and content and "MAILADDR" not in content:
            # Without, the service that watches the arrays does not start.
            content += "\nMAILADDR root\n"
        if content:
            target.write(place, content)
    # Names for disks, such as MAAS shows them.
    for rule in glob.glob(os.path.join(said.scratch, "rules.d", "*.rules")):
        target.write(os.path.join("etc/udev/rules.d", os.path.basename(rule)), text(rule))


def boot_disks(actions, target):
    """The disks that firmware without UEFI may start from: those that MAAS names, else those that hold /boot."""
    named = [action for action in actions if action.get("type") == "disk" and action.get("grub_device")]
    disks = [find_disk(action) for action in named] or disks_below(target.path("boot"))
    if not disks:
        raise Problem("MAAS names no disk to start from, and what /boot is on is none either")
    return disks


def find_disk(action):
    """The device of a disk that MAAS names by a path, or as udev knows it."""
    path = action.get("path")
    if path and os.path.exists(path):
        return os.path.realpath(path)
    wanted = {action.get("serial"), action.get("wwn")} - {None, ""}
    for device in whole_disks():
        if wanted & identifiers(device):
            return device
    raise Problem("the disk that MAAS starts this machine from is not there: %s" % ", ".join(
        "%s %s" % (key, action[key]) for key in ("name", "model", "serial", "wwn", "path") if action.get(key)))


def whole_disks():
    out = subprocess.run(
        ["lsblk", "--nodeps", "--noheadings", "--paths", "--output", "NAME,TYPE"],
        check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    return [line.split()[0] for line in out.splitlines() if line.split()[1:] == ["disk"]]


def identifiers(device):
    """All the serial numbers and names by which a disk is known; which of them MAAS noted depends on the disk's kind."""
    out = subprocess.run(
        ["udevadm", "info", "--query=property", "--name=" + device],
        check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    known = set()
    for line in out.splitlines():
        key, _, value = line.partition("=")
        if "SERIAL" in key or "WWN" in key:
            known |= {value, value.replace("_", " ").strip()}
    return known


def disks_below(place):
    """The disks that hold the file system of a folder: several below RAID or LVM."""
    source = subprocess.run(
        ["findmnt", "--noheadings", "--output", "SOURCE", "--target", place],
        check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout.split("[")[0].strip()
    out = subprocess.run(
        ["lsblk", "--inverse", "--noheadings", "--paths", "--list", "--output", "NAME,TYPE", source],
        check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    disks = sorted({line.split()[0] for line in out.splitlines() if line.split()[1:] == ["disk"]})
    say("MAAS names no disk to start from; those that hold %s are %s" % (source, ", ".join(disks) or "none"))
    return disks
