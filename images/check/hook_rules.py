"""What the hook makes of what MAAS and firmware say, case by case. Run in the image, whose Python is what is at hand."""

import sys

sys.dont_write_bytecode = True
sys.path.insert(0, "/curtin")

import bootloader
import deployment
import first_start
import firmware
import storage

FIRMWARE = r"""BootCurrent: 0003
Timeout: 0 seconds
BootOrder: 0001,0003,0000
Boot0000* UiApp	FvVol(7cb8)/FvFile(462c)
Boot0001* debian	HD(2,GPT,e0d9,0x1000,0x80000)/File(\EFI\debian\shimx64.efi)
Boot0002  ubuntu	HD(1,GPT,e0d9,0x1000,0x80000)/\EFI\ubuntu\shimx64.efi
Boot0003* PXE (MAC:525400123456)	PciRoot(0x0)/MAC(525400123456,1)/IPv4(0.0.0.0)
Boot0004* a disk	PciRoot(0x0)/Scsi(0x0,0x0)
"""


class Bare:
    """An image without any program."""

    def has_program(self, name):
        return False


def refused(actions):
    try:
        storage.check_tools(actions, Bare())
    except deployment.Problem as problem:
        return str(problem)
    return ""


def entries():
    found = firmware.Entries(FIRMWARE)
    return found.current, found.order, found.loaders


CASES = [
    ("parameters behind the mark, and consoles before it",
     lambda: bootloader.kernel_parameters("nomodeset root=squash:x console=tty0 --- console=ttyS1 BOOTIF=01-aa intel_iommu=on\n"),
     ["console=tty0", "console=ttyS1", "intel_iommu=on"]),
    ("the older mark", lambda: bootloader.kernel_parameters("a -- quiet"), ["quiet"]),
    ("no mark", lambda: bootloader.kernel_parameters("a console=ttyS0 BOOT_IMAGE=x"), ["console=ttyS0"]),
    ("a parameter cannot break out of GRUB's settings",
     lambda: "GRUB_CMDLINE_LINUX_DEFAULT='x=$(y) z'" in bootloader.settings({}, "a --- x=$(y) z").splitlines(), True),
    ("settings that MAAS wants left alone",
     lambda: bootloader.settings({"terminal": "unmodified", "replace_linux_default": False}, "a --- b").splitlines()[1:],
     ["GRUB_DISABLE_OS_PROBER=true"]),
    ("the firmware's entries: the current one, the order, loaders on disks", entries,
     ("0003", ["0001", "0003", "0000"], {"0001": "debian", "0002": "ubuntu"})),
    ("what MAAS sends for debconf",
     lambda: first_start.local_config({"grub2": "grub2 a boolean false", "maas":
         "cloud-init   cloud-init/datasources  multiselect MAAS\n"
         "cloud-init   cloud-init/local-cloud-config  string a: 'x\\\\y'\\nb: true\\n\n"}),
     "a: 'x\\y'\nb: true\n"),
    ("nothing for debconf", lambda: first_start.local_config({}), ""),
    ("storage that the image has no tools for", lambda: "lacks the package bcache-tools" in refused([{"type": "bcache"}]), True),
    ("a file system likewise", lambda: "lacks the package xfsprogs" in refused([{"type": "format", "fstype": "xfs"}]), True),
    ("plain storage", lambda: refused([{"type": "disk"}, {"type": "format", "fstype": "ext4"}]), ""),
    ("a word that means no", lambda: deployment.switched_on({"update_nvram": "False"}, "update_nvram", True), False),
]

wrong = ["%s: %r instead of %r" % (name, got(), want) for name, got, want in CASES if got() != want]
print("; ".join(wrong) or "%d cases" % len(CASES))
sys.exit(1 if wrong else 0)
