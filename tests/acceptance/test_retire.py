"""Retirement: data gone and read back, access gone, power off, a signed certificate; only then does Pulumi delete."""

from __future__ import annotations

import json

from fleet.lab import containers
from tests.acceptance.small_fleet import Lab
from tools.trial import Trial


def test_a_node_is_retired_with_proof_and_only_then_deleted(lab: Lab, trial: Trial) -> None:
    lab.spoilt = True  # it ends with a machine that nobody may log in to
    node = lab.node("n04")
    disk = lab.says("n04", "head", "-c", "200", "/var/lib/scratch/disk0.img")
    assert "tenant data" in disk

    refused = trial.fleet("retire", "n04", "--declare", answer="WRONG\n")
    assert refused.code != 0, "a wrong serial confirms nothing"
    assert containers.seen()[node.container].running

    done = trial.fleet("retire", "n04", "--declare", "--yes", "--confirm", node.serial)
    assert done.code == 0, done.all
    certificates = sorted((trial.home / "certificates").glob("*n04*"))
    assert certificates, done.all
    assert trial.fleet("certificate", "verify", str(certificates[0])).code == 0
    text = json.dumps(json.loads(certificates[0].read_text())) if certificates[0].suffix == ".json" else ""
    assert node.serial in (text or certificates[0].read_text())
    assert not containers.seen()[node.container].running, "it is off"
    assert trial.fleet("trail", "verify").code == 0

    containers.power_on(node.container)
    assert "tenant data" not in lab.says("n04", "sh", "-c", "head -c 4096 /var/lib/scratch/disk0.img | tr -d '\\0'")
    assert "fleet" not in lab.says("n04", "sh", "-c", "cat /root/.ssh/authorized_keys 2>/dev/null || true")
