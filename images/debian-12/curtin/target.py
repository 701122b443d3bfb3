"""The installed file system, seen from the installer's."""

import contextlib
import os
import subprocess

# What programs of the installed system need to see of the running one: devices, the kernel, and what udev knows of disks.
SHARED = ("dev", "proc", "sys", "run")

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "DEBIAN_FRONTEND": "noninteractive",
    "LC_ALL": "C",
}


class Target:
    def __init__(self, root):
        self.root = root

    def path(self, name):
        return os.path.join(self.root, name.lstrip("/"))

    def exists(self, name):
        return os.path.exists(self.path(name))

    def read(self, name):
        with open(self.path(name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def write(self, name, content, mode=0o644):
        """The file is new: what was there, perhaps a link that leads elsewhere, is gone."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)

    def has_program(self, name):
        return any(os.access(self.path(os.path.join(place, name)), os.X_OK) for place in ENVIRONMENT["PATH"].split(":"))

    @contextlib.contextmanager
    def entered(self):
        """While this lasts, run works."""
        with contextlib.ExitStack() as stack:
            for name in SHARED:
                place = self.path(name)
                os.makedirs(place, exist_ok=True)
                subprocess.run(["mount", "--rbind", "/" + name, place], check=True)
                stack.callback(subprocess.run, ["umount", "--recursive", "--lazy", place], check=True)
                # What is unmounted here stays mounted there.
                subprocess.run(["mount", "--make-rslave", place], check=True)
            yield

    def run(self, *argv, capture=False):
        """Runs a program of the installed system; its output goes to the log, or is returned."""
        done = subprocess.run(
            ["chroot", self.root, *argv], check=True, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if capture else None, universal_newlines=True)
        return done.stdout or ""
