"""What a run is given: hosts and variables as JSON, pinned host keys, environment. Pure.

Nothing here is a command line: names and versions are values in a JSON file, and those that Ansible would take for a
template are refused.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fleet.adapters.ansible.processes import MARK
from fleet.errors import Misuse
from fleet.lifecycle.table import DISRUPTIVE
from fleet.model.plan import Step
from fleet.model.release import Release
from fleet.model.topology import DeclaredNode

SSH_OPTIONS = (
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "GlobalKnownHostsFile=/dev/null",
    "UpdateHostKeys=no",
    "IdentitiesOnly=yes",
    "ConnectTimeout=8",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
)


def inventory(
    steps: Sequence[tuple[Step, DeclaredNode, int]],
    *,
    user: str,
    key: Path,
    known_hosts: Path,
    vendors: Mapping[str, str],
    common: Mapping[str, Any],
) -> dict[str, Any]:
    """The hosts of a run with what each is to do, and the variables that they share."""
    options = " ".join(
        f"-o {option}" for option in (*SSH_OPTIONS, f"UserKnownHostsFile={shlex.quote(str(known_hosts))}")
    )
    hosts = {
        node.id: {
            "ansible_host": node.address,
            "fleet_step": {
                "order": step.order,
                "token": token,
                "disruptive": step.verb in DISRUPTIVE,
                "force": step.force,
            },
            "fleet_vendor": vendors[node.id],
            "fleet_accelerators": node.accelerators,
        }
        for step, node, token in steps
    }
    shared = {
        "ansible_user": user,
        "ansible_become": user != "root",
        "ansible_ssh_private_key_file": str(key),
        "ansible_ssh_common_args": options,
        **common,
    }
    _refuse_templates(hosts, "inventory")
    _refuse_templates(common, "variables")
    return {"all": {"hosts": hosts, "vars": shared}}


def release_variables(release: Release | None) -> dict[str, Any]:
    """A release as the playbooks take it."""
    if release is None:
        return {"fleet_versions": {}}
    packages = [{"name": p.name, "version": p.version, "sha256": p.sha256} for p in release.packages]
    return {
        "fleet_release": {"release": release.id, "packages": packages},
        "fleet_versions": dict(release.versions),
    }


def known_hosts_text(keys: Mapping[str, str]) -> str:
    """A known_hosts file of addresses and their pinned keys."""
    return "".join(f"{address} {key}\n" for address, key in keys.items())


def environment(private: Path, playbooks: Path) -> dict[str, str]:
    """The environment of a run: our configuration, nobody's home; marked, so that its processes are found."""
    keep = {name: os.environ[name] for name in ("HOME", "LANG", "SSH_AUTH_SOCK", "TZ") if name in os.environ}
    return {
        **keep,
        MARK: str(private),
        "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', '/usr/bin:/bin')}",
        "ANSIBLE_CONFIG": str(playbooks / "ansible.cfg"),
        "ANSIBLE_HOST_KEY_CHECKING": "True",  # ansible-runner turns it off, and ssh takes the first word it is given
        "ANSIBLE_HOME": str(private / "home"),
        "ANSIBLE_LOCAL_TEMP": str(private / "tmp"),
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(private / "cp"),
        "ANSIBLE_SSH_ARGS": "-o ControlMaster=auto -o ControlPersist=30s",
        "ANSIBLE_NOCOLOR": "1",
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
    }


def _refuse_templates(value: Any, place: str) -> None:
    """Ansible evaluates `{{ }}` wherever it stands in an inventory."""
    if isinstance(value, str) and ("{{" in value or "{%" in value or "{#" in value):
        raise Misuse(f"{place}: {value!r}", "it holds a template", "write the value itself")
    if isinstance(value, Mapping):
        for name, part in value.items():
            _refuse_templates(str(name), place)
            _refuse_templates(part, f"{place}.{name}")
    elif isinstance(value, (list, tuple)):
        for part in value:
            _refuse_templates(part, place)
