"""Drift is corrected, a sick node is isolated, mended, proven and brought back: the same engine, other purposes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fleet.lab import slurm
from tests.acceptance.small_fleet import Lab
from tests.acceptance.test_faults import wait_for
from tools.trial import Trial, began, end


def with_the_loop(trial: Trial, until: Callable[[], bool], seconds: float) -> bool:
    """Run the loop as a service until something is true."""
    running = trial.start("fleet", "run")
    try:
        return wait_for(until, seconds)
    finally:
        end(running)


def serving(node: str) -> bool:
    state = slurm.node_states().get(node, "UNKNOWN")
    return not any(word in state for word in ("DRAIN", "DOWN", "UNKNOWN", "NOT_RESPONDING"))


def test_drift_is_seen_shown_three_ways_and_corrected(lab: Lab, trial: Trial) -> None:
    node = lab.names("infer")[0]
    assert trial.fleet("drift").code == 0, "nothing has drifted yet"
    assert with_the_loop(trial, lambda: any(e["what"] == "adopted" for e in trial.trail()), 30)
    lab.fault(node, "package", "2026.2", "cuda-runtime")
    drift = trial.fleet("drift")
    assert drift.code == 3, drift.all
    assert node in drift.all
    assert all(word in drift.all.lower() for word in ("declared", "applied", "observed")), drift.all
    assert with_the_loop(trial, lambda: lab.carries(node, "nvidia-2026.1") and serving(node), 120)
    assert any("CORRECT" in str(entry) for entry in trial.trail())
    assert trial.fleet("drift").code == 0


SICK = [("infer", ("xid", "79", "3")), ("train", ("ecc", "2"))]


@pytest.mark.parametrize(("pool", "fault"), SICK, ids=["xid", "ras"])
def test_a_sick_node_is_isolated_mended_and_returned(lab: Lab, trial: Trial, pool: str, fault: tuple[str, ...]) -> None:
    node = lab.names(pool)[0]
    boot = lab.boots(node)
    isolated: list[str] = []

    def returned() -> bool:
        state = slurm.node_states().get(node, "")
        if "DRAIN" in state and not isolated:
            isolated.append(slurm.control("show", "node", node))
        return bool(isolated) and lab.boots(node) != boot and serving(node)

    running = trial.start("fleet", "run")
    try:
        assert wait_for(lambda: any(e["what"] == "adopted" for e in trial.trail()), 30), "it never looked"
        lab.fault(node, *fault)
        assert wait_for(returned, 150), f"{slurm.node_states().get(node)}: {trial.fleet('why', node).all}"
    finally:
        end(running)
    assert "fleet:" in isolated[0], "the quarantine carries the order's id"
    why = trial.fleet("why", node)
    assert why.code == 0
    assert fault[0] in why.all.lower() or "ras" in why.all.lower(), why.all
    closed = {entry["node"] for entry in began(trial.trail(), "cordon")}
    assert closed == {node}, "nobody else was touched"
