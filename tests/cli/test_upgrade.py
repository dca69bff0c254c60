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


def test_a_release_that_does_not_exist_names_those_that_do(desk: Desk) -> None:
    assert desk.type("upgrade", "--rolling", "train", "--to", "no-such", "--declare", "--yes") == 2
    assert "amd-2026.2" in desk.err


def test_a_failed_canary_halts_goes_back_and_no_second_node_is_touched(desk: Desk) -> None:
    desk.answer("verify", "n01", "failed", "7 of 8 accelerators", times=1)
    assert desk.type(*TO, "--canary", "n01", "--json") == 4
    found = json.loads(desk.out)
    assert found["result"] == "halted"
    assert "n01" in found["why"]
    assert "7 of 8" in found["why"]
    assert list(found["nodes"]) == ["n01"]
    assert desk.machine("n01").shown["rocm"] != "7.0.2"
    assert not desk.machine("n01").holds
    assert desk.type("upgrade", "--rolling", "train") == 4, "a halted rollout is not begun again behind anybody's back"


def test_a_node_out_of_reach_is_held_after_some_patience(desk: Desk) -> None:
    desk.edit("policy.yaml", "budget: {pool: 1, rack: 1}", "budget: {pool: 2}")
    desk.machine("n04").network = False
    assert desk.type(*TO, "--json") == 4
    found = json.loads(desk.out)
    assert found["result"] == "held"
    assert {held["node"] for held in found["held"]} == {"n04"}


def test_an_interrupted_upgrade_goes_on_with_the_same_command(desk: Desk) -> None:
    with desk.interrupted_after(40):
        assert desk.type(*TO) == 130
    assert "go on with: fleet upgrade --rolling train" in desk.out
    assert desk.type("upgrade", "--rolling", "train") == 0, desk.err
    boots = [desk.machine(f"n0{i}").boots for i in range(1, 5)]
    assert boots == [2, 2, 2, 2], "no node was booted more often than the release needs"


def test_answers_are_needed_where_nobody_can_be_asked(desk: Desk) -> None:
    assert desk.type(*TO[:-1]) == 2
    assert "--yes" in desk.err
