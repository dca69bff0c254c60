"""After the role: exactly the release's packages, through the node's own door, and nothing left lying about."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
import yaml

PROJECT = Path(os.environ.get("MOLECULE_PROJECT_DIRECTORY", "."))
RELEASE = yaml.safe_load((PROJECT / "inventory/lab/releases/amd-2026.2.yaml").read_text())
WRAPPER = PROJECT / "playbooks/node/fleet-node"


@pytest.mark.parametrize("package", RELEASE["packages"], ids=lambda package: package["name"])
def test_the_package_is_installed_at_its_exact_version(host, package):
    assert host.package(package["name"]).is_installed
    assert host.package(package["name"]).version == package["version"]


def test_dpkg_has_nothing_half_done(host):
    assert host.run("dpkg --audit").stdout == ""


def test_the_wrapper_is_roots_and_is_ours(host):
    wrapper = host.file("/usr/local/lib/fleet/fleet-node")
    assert (wrapper.user, wrapper.group, wrapper.mode) == ("root", "root", 0o755)
    assert wrapper.sha256sum == hashlib.sha256(WRAPPER.read_bytes()).hexdigest()


def test_the_node_remembers_the_token_and_holds_no_lock(host):
    shown = json.loads(host.run("/usr/local/lib/fleet/fleet-node show").stdout)
    assert shown["token"] > 0
    assert shown["lock"] == {}
    assert shown["last"]["order"] == "molecule"


def test_a_lower_token_is_refused(host):
    step = {"order": "late", "token": 1, "verb": "converge", "program": "raise SystemExit(0)"}
    late = host.run("echo %s | /usr/local/lib/fleet/fleet-node run", json.dumps(step))
    assert late.rc == 76, late.stdout


def test_fetched_files_do_not_stay(host):
    assert host.run("find /var/cache/fleet -name '*.deb'").stdout == ""
