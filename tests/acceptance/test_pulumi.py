"""`pulumi` on the lab: BMCs over Redfish, nodes over SSH, the ledger. Its finer points are in tests/provider."""

from __future__ import annotations

import json
import signal
import time
from typing import Any

import pytest

from fleet.lab import containers
from tests.acceptance.small_fleet import Lab
from tools.trial import STACK, Trial

pytestmark = [pytest.mark.acceptance, pytest.mark.pulumi]


def nodes(trial: Trial) -> dict[str, dict[str, Any]]:
    """The nodes in the stack's state."""
    kept = json.loads(trial.pulumi("stack", "export").out)["deployment"].get("resources", [])
    found = [each for each in kept if each["type"] == "fleet:index:Node"]
    assert len({each["id"] for each in found}) == len(found), "no duplicate"
    return {each["id"]: each for each in found}


def running(lab: Lab, node: str) -> bool:
    """Whether a node's container runs."""
    return containers.seen()[lab.node(node).container].running


def test_what_exists_is_found_changed_mended_and_not_deleted(lab: Lab, trial: Trial) -> None:
    assert trial.enrol().code == 0
    untouched = trial.pulumi("preview", "--expect-no-changes")
    assert untouched.code == 0, untouched.all
    secret = (lab.home.root / "bmc/n05/password").read_text().strip()
    assert secret not in trial.pulumi("stack", "export").out

    containers.power_off(lab.node("n05").container, grace_s=0)
    refreshed = trial.pulumi("refresh", "--yes", "--skip-preview")
    assert refreshed.code == 0, refreshed.all
    assert {name: each["outputs"]["power"] for name, each in nodes(trial).items()} == {
        name: "off" if name == "n05" else "on" for name in nodes(trial)
    }
    assert not running(lab, "n05"), "a refresh only looks"

    planned = trial.pulumi("preview")
    assert "n05 update" in planned.all
    assert not running(lab, "n05"), "a preview touches nothing"

    done = trial.pulumi("up", "--yes", "--skip-preview")
    assert done.code == 0, done.all
    assert running(lab, "n05")

    refused = trial.pulumi("destroy", "--yes")
    assert refused.code != 0
    assert "protect" in refused.all
    assert len(nodes(trial)) == len(lab.nodes)


def test_a_machine_with_another_serial_is_not_taken(lab: Lab, trial: Trial) -> None:
    assert trial.enrol().code == 0
    lab.fault("n06", "bmc", "wrong-serial")

    refreshed = trial.pulumi("refresh", "--yes", "--skip-preview")
    assert refreshed.code == 0, refreshed.all
    assert nodes(trial)["n06"]["outputs"]["serial"] != lab.node("n06").serial

    refused = trial.pulumi("up", "--yes", "--skip-preview")
    assert refused.code != 0
    assert f"declared is {lab.node('n06').serial}" in refused.all

    lab.fault("n06", "bmc", off=True)
    done = trial.pulumi("up", "--yes", "--skip-preview")
    assert done.code == 0, done.all


def test_a_dead_bmc_holds_up_its_own_node_only(lab: Lab, trial: Trial) -> None:
    lab.fault("n06", "bmc", "500")

    made = trial.enrol()

    assert made.code != 0
    assert "n06: the BMC at" in made.all
    assert "Traceback" not in made.all
    assert "n06" not in nodes(trial)

    lab.fault("n06", "bmc", off=True)
    done = trial.pulumi("up", "--yes", "--skip-preview")
    assert done.code == 0, done.all
    assert len(nodes(trial)) == len(lab.nodes)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_up_is_finished_by_the_next(lab: Lab, trial: Trial, how: signal.Signals) -> None:
    (trial.home / "ledger.db").unlink(missing_ok=True)
    boots = {}
    for name in ("n05", "n06"):
        containers.power_off(lab.node(name).container, grace_s=0)
        boots[name] = lab.boots(name)
    assert trial.pulumi("stack", "select", "--create", "lab").code == 0
    interrupted = trial.start("pulumi", "--non-interactive", "up", "--yes", "--skip-preview", where=STACK)
    until = time.monotonic() + 60
    while not running(lab, "n05") and time.monotonic() < until and interrupted.poll() is None:
        time.sleep(0.05)
    interrupted.send_signal(how)
    interrupted.communicate(timeout=60)
    if how is signal.SIGKILL:
        assert trial.pulumi("cancel", "--yes").code == 0, "a killed engine leaves its lock"

    done = trial.pulumi("up", "--yes", "--skip-preview")

    assert done.code == 0, done.all
    assert sorted(nodes(trial)) == [node.name for node in lab.nodes]
    enrolled = {entry["node"] for entry in trial.trail() if entry["what"] == "enrolled"}
    assert enrolled == set(nodes(trial)), "no orphan"
    assert all(lab.boots(name) != boots[name] for name in boots)
