"""A pool moves to a new release while Slurm keeps running jobs, and none of them is lost."""

from __future__ import annotations

from fleet.lab import slurm
from tests.acceptance.small_fleet import Lab
from tools.trial import Trial, began
from tools.witness import Load, Witness, wait_for_jobs


def test_an_upgrade_loses_no_job_and_keeps_the_floor(lab: Lab, trial: Trial) -> None:
    train = lab.names("train")
    with Witness() as witness:
        load = Load("train", witness, long_on=train[-1])
        load.begin(train)
        witness.mark()
        done = trial.fleet("upgrade", "--rolling", "train", "--to", "amd-2026.2", "--declare", "--yes")
        witness.mark()
        load.stop()
    assert done.code == 0, done.all
    assert not load.trouble

    figures = wait_for_jobs(load.jobs)
    assert (figures.killed, figures.requeued, figures.open) == ((), (), 0)
    assert figures.finished == figures.submitted >= 12

    assert witness.longest_gap() < 5, "the witness must have looked all the time"
    assert witness.lowest(train) >= 3, "the budget is one node of four, the floor two"
    assert witness.lowest(lab.names("infer")) == 2, "the other pool is none of its business"
    assert witness.fewest_waiting() > 0, "the queue was never empty"
    drains = witness.drains()
    assert set(drains) == set(train)
    assert all(drains.values()), "every node had work when its drain began"
    assert [node for node in train if not lab.carries(node, "amd-2026.2")] == []
    assert ended_after(trial, train[-1], train), "the long job outlasted the work on two other nodes"

    again = trial.fleet("upgrade", "--rolling", "train", "--to", "amd-2026.2", "--yes")
    assert again.code == 0, again.all
    assert "nothing to do" in again.all


def ended_after(trial: Trial, last: str, nodes: tuple[str, ...]) -> bool:
    """Whether two other nodes were done before work on `last` began."""
    entries = trial.trail()
    converges = [entry["at"] for entry in began(entries, "converge") if entry["node"] == last]
    opened = {e["node"]: e["at"] for e in began(entries, "uncordon") if e["node"] in nodes and e["node"] != last}
    return len([node for node, at in opened.items() if converges and at < converges[0]]) >= 2


def test_the_bad_release_stops_at_its_canary(lab: Lab, trial: Trial) -> None:
    train = lab.names("train")
    boots = {node: lab.boots(node) for node in train}
    with Witness() as witness:
        done = trial.fleet("upgrade", "--rolling", "train", "--to", "amd-2026.3-bad", "--declare", "--yes")
    assert done.code == 4, done.all
    assert "verify" in done.all
    assert "7" in done.all, "the reason is named: 7 of 8 accelerators"

    touched = [node for node in train if lab.boots(node) != boots[node]]
    assert len(touched) == 1, "no second node was touched"
    assert list(witness.drains()) == touched
    assert all(lab.carries(node, "amd-2026.1") for node in train), "the canary is back on the old release"
    states = slurm.node_states()
    assert not [node for node in train if "DRAIN" in states[node]], "and in service"


def test_a_persons_cordon_survives(lab: Lab, trial: Trial) -> None:
    infer = lab.names("infer")
    slurm.control("update", f"nodename={infer[0]}", "state=drain", "reason=alice: looking at a cable")
    done = trial.fleet("upgrade", "--rolling", "infer", "--to", "nvidia-2026.2", "--declare", "--yes")
    assert done.code == 4, done.all
    assert infer[0] in done.all
    assert "alice" in done.all or "foreign_cordon" in done.all

    shown = slurm.control("show", "node", infer[0])
    assert "DRAIN" in shown
    assert "looking at a cable" in shown
    assert lab.carries(infer[0], "nvidia-2026.1"), "nobody worked on it"
    status = trial.fleet("status", "--json").out
    assert "foreign_cordon" in status
