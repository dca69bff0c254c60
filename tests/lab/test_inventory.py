"""The lab's inventory: what is committed is what the generator writes, and every release is signed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from fleet.lab import inventory
from fleet.lab.layout import layout
from fleet.lab.packages import build_all
from fleet.lab.releases import RELEASES

COMMITTED = Path(__file__).parents[2] / "inventory" / "lab"

needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="builds Debian packages")
needs_ssh_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="checks SSH signatures")


@needs_dpkg
def test_the_committed_inventory_is_what_the_generator_writes_for_six_nodes(tmp_path: Path) -> None:
    inventory.write(layout(6), tmp_path)
    written = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*.yaml")}
    committed = {path.relative_to(COMMITTED): path.read_text() for path in COMMITTED.rglob("*.yaml")}
    assert written == committed


@needs_dpkg
def test_digests_in_the_manifests_are_those_of_packages_built_here(tmp_path: Path) -> None:
    built = {(one.package.name, one.package.version): one.sha256 for one in build_all(tmp_path)}
    for path in COMMITTED.glob("releases/*.yaml"):
        for row in yaml.safe_load(path.read_text())["packages"]:
            assert built[row["name"], row["version"]] == row["sha256"], path.name


@needs_dpkg
def test_a_package_is_the_same_byte_for_byte_whoever_builds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = {one.path.name: one.sha256 for one in build_all(tmp_path / "first")}
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    before = os.umask(0o077)
    try:
        assert {one.path.name: one.sha256 for one in build_all(tmp_path / "second")} == first
    finally:
        os.umask(before)


@needs_ssh_keygen
@pytest.mark.parametrize("name", [release.name for release in RELEASES])
def test_every_release_is_signed_and_a_changed_one_is_not(name: str) -> None:
    manifest = (COMMITTED / "releases" / f"{name}.yaml").read_bytes()
    check = ["ssh-keygen", "-Y", "verify", "-f", str(COMMITTED / "allowed_signers"), "-I", inventory.SIGNER]
    check += ["-n", inventory.NAMESPACE, "-s", str(COMMITTED / "releases" / f"{name}.yaml.sig")]
    assert subprocess.run(check, input=manifest, capture_output=True, check=False).returncode == 0
    altered = manifest.replace(b"sha256", b"sha257", 1)
    assert subprocess.run(check, input=altered, capture_output=True, check=False).returncode != 0


def test_serials_rise_within_each_line_of_releases() -> None:
    for vendor in ("amd", "nvidia"):
        serials = [release.serial for release in RELEASES if release.vendor == vendor]
        assert serials == sorted(set(serials))


def test_a_larger_lab_gets_an_inventory_of_its_own_with_the_signed_releases(tmp_path: Path) -> None:
    inventory.write_beside(layout(30), tmp_path, COMMITTED)
    nodes = yaml.safe_load((tmp_path / "nodes.yaml").read_text())["nodes"]
    racks = yaml.safe_load((tmp_path / "racks.yaml").read_text())["racks"]
    assert len(nodes) == 30
    assert {node["rack"] for node in nodes.values()} == set(racks)
    for path in COMMITTED.glob("releases/*"):
        assert (tmp_path / "releases" / path.name).read_bytes() == path.read_bytes()
