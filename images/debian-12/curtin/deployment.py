"""What curtin and MAAS say about this deployment."""

import os
import sys

import yaml


class Problem(Exception):
    """Ends the deployment. Its text is for the person who reads MAAS's installation log."""


def say(text):
    print("machine image: %s" % text, file=sys.stderr, flush=True)


class Deployment:
    """All that is known, read once.

    target   where the disks of the machine are mounted
    config   curtin's configuration, which MAAS made
    storage  the actions of MAAS's storage layout, in order
    network  what MAAS says of the network, for cloud-init; empty when it says nothing
    fstab    the table that curtin made of what it mounted
    state    the folder in which curtin left that table and others
    scratch  curtin's working folder
    """

    def __init__(self, environ):
        self.target = environ.get("TARGET_MOUNT_POINT", "")
        if not os.path.isdir(self.target):
            raise Problem("curtin does not say where the disks are mounted (TARGET_MOUNT_POINT=%r)" % self.target)
        self.config = read(environ, "CONFIG")
        self.storage = section(self.config, "storage").get("config") or []
        self.network = read(environ, "OUTPUT_NETWORK_CONFIG")
        if not self.network and self.config.get("network"):
            self.network = {"network": self.config["network"]}
        self.state = os.path.dirname(environ.get("OUTPUT_FSTAB", ""))
        self.fstab = text(environ.get("OUTPUT_FSTAB", ""))
        self.scratch = environ.get("WORKING_DIR", "")


def from_environment():
    return Deployment(os.environ)


def section(config, name):
    """A part of the configuration, empty where MAAS did not send it."""
    part = config.get(name) or {}
    if not isinstance(part, dict):
        raise Problem("%r in curtin's configuration is not a map" % name)
    return part


def text(path):
    if not path or not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def read(environ, name):
    content = yaml.safe_load(text(environ.get(name, ""))) or {}
    if not isinstance(content, dict):
        raise Problem("the file that %s names does not hold a map" % name)
    return content


def switched_on(part, name, otherwise):
    """A setting that may be a boolean, a number or a word."""
    return str(part.get(name, otherwise)).lower() not in ("false", "0", "no", "off", "none")
