"""The firmware's own memory of what to start, on machines with UEFI."""

import os
import re
import subprocess

from deployment import say

ROOT = "/sys/firmware/efi"


def is_uefi():
    return os.path.isdir(ROOT)


def has_variables():
    """Some firmware gives no access to them; a machine then starts by the loader's default name."""
    folder = os.path.join(ROOT, "efivars")
    return os.path.isdir(folder) and bool(os.listdir(folder))


class Entries:
    """What efibootmgr prints: the entry that this start came from, the order, and the loaders on disks."""

    def __init__(self, printed):
        self.current = first(r"^BootCurrent: (\w+)", printed)
        order = first(r"^BootOrder: ([\w,]+)", printed)
        self.order = order.split(",") if order else []
        self.loaders = {
            number: name.strip()
            for number, name in re.findall(r"^Boot([0-9A-Fa-f]{4})\*?\s(.*?)\s+HD\(.*\\EFI\\", printed, re.MULTILINE | re.IGNORECASE)}


def first(pattern, printed):
    found = re.search(pattern, printed, re.MULTILINE)
    return found.group(1) if found else ""


def read(target):
    return Entries(target.run("efibootmgr", "-v", capture=True))


def forget_loaders(target):
    """Removes entries for what was on the disks before. They lead nowhere now, and the memory for them is small."""
    entries = read(target)
    for number, name in sorted(entries.loaders.items()):
        if number != entries.current:
            say("removing the firmware's entry %s, %s" % (number, name))
            change(target, "-B", "-b", number)


def keep_network_first(target):
    """The installer came over the network, and so must every later start: it is how MAAS keeps hold of the machine."""
    entries = read(target)
    if entries.current and entries.order[:1] != [entries.current]:
        order = [entries.current] + [number for number in entries.order if number != entries.current]
        change(target, "-o", ",".join(order))


def change(target, *arguments):
    """Not worth a failed deployment: firmware refuses such things now and then, and starts the disk all the same."""
    try:
        target.run("efibootmgr", "-q", *arguments)
    except subprocess.CalledProcessError:
        say("the firmware refused: efibootmgr %s" % " ".join(arguments))
