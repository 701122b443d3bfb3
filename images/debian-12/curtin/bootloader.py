"""The first steps of a machine: GRUB, the kernel's parameters, and the RAM disk it starts with."""

import glob
import os
import re
import shlex

import firmware
import storage
from deployment import Problem, say, section, switched_on, text

SETTINGS = "etc/default/grub.d/50-curtin-settings.cfg"

# By Debian's name of the architecture: GRUB's targets for both kinds of firmware, and the loader that UEFI looks for by itself.
ARCHITECTURES = {
    "amd64": ("i386-pc", "x86_64-efi", "BOOTX64.EFI"),
    "arm64": (None, "arm64-efi", "BOOTAA64.EFI"),
}


def make_ramdisks(target):
    """Anew, because what is on this machine's disks decides what is in them."""
    kernels = sorted(glob.glob(target.path("boot/vmlinuz-*")))
    if not kernels:
        raise Problem("there is no kernel in /boot")
    for kernel in kernels:
        version = os.path.basename(kernel)[len("vmlinuz-"):]
        there = target.exists("boot/initrd.img-" + version)
        target.run("update-initramfs", "-u" if there else "-c", "-k", version)


def install(said, target):
    """Settings, the loader for the firmware in use, and the menu."""
    grub = section(said.config, "grub")
    target.write(SETTINGS, settings(grub, text("/proc/cmdline")))
    architecture = target.run("dpkg", "--print-architecture", capture=True).strip()
    if architecture not in ARCHITECTURES:
        raise Problem("this image has no boot loader for %s" % architecture)
    bios, uefi, loader = ARCHITECTURES[architecture]
    if firmware.is_uefi():
        install_uefi(target, grub, uefi, loader)
    elif bios:
        for disk in storage.boot_disks(said.storage, target):
            say("installing GRUB on %s" % disk)
            target.run("grub-install", "--target=" + bios, "--recheck", disk)
    else:
        raise Problem("a machine of architecture %s can only be started by UEFI, and this one was not" % architecture)
    target.run("update-grub")


def install_uefi(target, grub, name, loader):
    if not os.path.ismount(target.path("boot/efi")):
        raise Problem(
            "the machine was started by UEFI, but nothing is mounted at /boot/efi: give its boot disk an EFI partition in MAAS "
            "(the layouts flat and lvm have one), or have it commissioned again if its firmware was changed")
    remember = switched_on(grub, "update_nvram", True) and firmware.has_variables()
    if remember and switched_on(grub, "remove_old_uefi_loaders", True):
        firmware.forget_loaders(target)
    say("installing GRUB on /boot/efi")
    # Under the name that UEFI looks for by itself as well. MAAS has every start go through it: of the loaders on a disk it knows this
    # one, and Ubuntu's, but not Debian's.
    target.run(
        "grub-install", "--target=" + name, "--efi-directory=/boot/efi", "--bootloader-id=debian", "--recheck",
        "--force-extra-removable", *([] if remember else ["--no-nvram"]))
    if not target.exists("boot/efi/EFI/BOOT/" + loader):
        raise Problem("GRUB was installed, but not as /boot/efi/EFI/BOOT/%s, which is what MAAS starts" % loader)
    # Beside a loader of that name, shim would start this one instead: a program that puts the disk before the network in the firmware's
    # order, at every start, and on some machines resets them. MAAS would lose its hold of the machine.
    for fallback in glob.glob(target.path("boot/efi/EFI/BOOT/fb*.efi")):
        os.unlink(fallback)
    if remember and switched_on(grub, "reorder_uefi", True):
        firmware.keep_network_first(target)


def settings(grub, command_line):
    """What GRUB's menu is made with on this machine."""
    lines = ["# Written when this machine was installed. After a change: update-grub.", "GRUB_DISABLE_OS_PROBER=true"]
    if switched_on(grub, "replace_linux_default", True):
        lines.append("GRUB_CMDLINE_LINUX_DEFAULT=" + shlex.quote(" ".join(kernel_parameters(command_line))))
    terminal = grub.get("terminal", "console")
    if terminal != "unmodified":
        lines.append("GRUB_TERMINAL=" + shlex.quote(str(terminal)))
    return "\n".join(lines) + "\n"


def kernel_parameters(command_line):
    """Those that MAAS has for the installed system: behind the mark in the installer's own, and consoles anywhere."""
    before, _, behind = command_line.strip().partition(" --- ")
    if not behind:
        before, _, behind = command_line.strip().partition(" -- ")
    kept = [word for word in behind.split() if not word.startswith(("BOOTIF=", "initrd=", "BOOT_IMAGE="))]
    return [word for word in before.split() if word.startswith("console=") and word not in kept] + kept


def check(target):
    """That the menu leads to a kernel, a RAM disk and the root file system, by a name that does not change."""
    menu = target.read("boot/grub/grub.cfg")
    roots = set(re.findall(r"^\s*linux\s+\S*/vmlinuz\S*\s+.*?root=(\S+)", menu, re.MULTILINE))
    if not roots:
        raise Problem("GRUB's menu, /boot/grub/grub.cfg, has no entry with a kernel")
    for root in roots:
        if not root.startswith(("UUID=", "PARTUUID=", "/dev/mapper/", "/dev/md")):
            raise Problem("GRUB's menu names the root file system %s, and that name may be another disk's at the next start" % root)
    if not re.search(r"^\s*initrd\s+\S+", menu, re.MULTILINE):
        raise Problem("GRUB's menu, /boot/grub/grub.cfg, has an entry without a RAM disk")
