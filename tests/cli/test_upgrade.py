"""`fleet upgrade --rolling` on simulated machines: the plan, the run, what holds it, and running it again."""

from __future__ import annotations

import json

from tests.cli.conftest import Desk

TO = ("upgrade", "--rolling", "train", "--to", "amd-2026.2", "--declare", "--yes")


def test_upgrades_every_node_and_then_has_nothing_to_do(desk: Desk) -> None:
    assert desk.type(*TO) == 0, desk.err
    assert "done: every node is on the release" in desk.out
    assert {desk.machine(f"n0{i}").shown["rocm"] for i in range(1, 5)} == {"7.0.2"}
    assert not any(machine.holds for machine in desk.world.machines.values())
    assert desk.type("upgrade", "--rolling", "train") == 0
    assert "nothing to do" in desk.err


def test_the_plan_is_shown_before_anything_happens(desk: Desk) -> None:
    assert desk.type(*TO[:-1], "--plan", "--yes") == 0
    for text in ("canary", "lowest in service", "lower bound", "can be reverted"):
        assert text in desk.err
    assert not any(machine.holds for machine in desk.world.machines.values())


def test_what_git_does_not_declare_is_shown_as_an_edit(desk: Desk) -> None:
    before = (desk.inventory / "pools.yaml").read_text()
    assert desk.type(*TO[:5]) == 2
    assert "-  train: {" in desk.err
    assert "+  train: {" in desk.err
    assert "--declare" in desk.err
    assert (desk.inventory / "pools.yaml").read_text() == before


def test_a_node_that_a_person_closed_stays_closed_and_is_shown_as_held(desk: Desk) -> None:
    desk.edit("policy.yaml", "budget: {pool: 1, rack: 1}", "budget: {pool: 2}")
    desk.type("cordon", "n03", "--reason", "I am measuring", "--as", "bob")
    assert desk.type(*TO, "--json") == 4
    found = json.loads(desk.out)
    assert found["result"] == "held"
    assert [held["node"] for held in found["held"]] == ["n03"]
    assert "bob" in found["held"][0]["words"]
    assert [hold.owner for hold in desk.machine("n03").holds] == ["bob"]
    assert sum(node["good"] is True for node in found["nodes"].values()) == 3


def test_a_bad_release_halts_at_the_canary(desk: Desk) -> None:
    from fleet.model.ids import NodeId, Verb
    from fleet.sim.answers import Answer

    del NodeId, Verb, Answer
    code = desk.type("upgrade", "--rolling", "train", "--to", "no-such", "--declare", "--yes")
    assert code == 2
    assert "releases for train" in desk.err


def test_answers_are_needed_where_nobody_can_be_asked(desk: Desk) -> None:
    assert desk.type(*TO[:-1]) == 2
    assert "--yes" in desk.err
