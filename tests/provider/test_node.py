"""What the Node resource does in each situation, without an engine: machines and ledger are tests/provider/world.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.provider.node import Node, inputs_of, node_of
from fleet.provider.properties import Plain, Properties
from fleet.provider.resource import Ask, Gone, Made, Refused
from tests.provider.world import World

BMC = "https://127.77.1.1:8443"
INPUTS: Properties = {
    "node": "n01",
    "site": "lab",
    "rack": "r1",
    "slot": 1,
    "pool": "train",
    "serial": "S1",
    "address": "10.77.1.1",
    "bmc": BMC,
    "bmcSecret": "file:.fleet/lab/bmc/n01/password",
    "accelerators": 8,
    "disposition": "in_service",
}
ASK = Ask(seconds=3, interrupted=lambda: False)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.of(tmp_path / "world.json", {BMC: "S1", "https://127.77.1.2:8443": "S2"})


@pytest.fixture
def node(world: World) -> Node:
    return Node(world.ports)


def inputs(**changed: Plain) -> Properties:
    return {**INPUTS, **changed}


def test_create_turns_on_pins_and_enrols(world: World, node: Node) -> None:
    made = node.create(INPUTS, ASK)

    assert made == Made("n01", {**INPUTS, "power": "on", "enrolled": True, "hostKey": "ssh-ed25519 key-S1"})
    assert world.state()["enrolled"]["n01"] == {"node": "n01", "serial": "S1", "host_key": "ssh-ed25519 key-S1"}
    assert world.calls("turn_on", "enrol") == ["turn_on n01", "enrol n01"]


def test_create_again_adopts_what_exists(world: World, node: Node) -> None:
    first = node.create(INPUTS, ASK)

    assert node.create(INPUTS, ASK) == first
    assert len(world.calls("turn_on")) == len(world.calls("enrol")) == 1


def taken_by_another(world: World) -> None:
    with world.open() as state:
        state["enrolled"]["n09"] = {"node": "n09", "serial": "S1", "host_key": ""}


def known_with(serial: str = "S1", **more: object) -> Callable[[World], None]:
    def happen(world: World) -> None:
        with world.open() as state:
            state["enrolled"]["n01"] = {"node": "n01", "serial": serial, "host_key": "ssh-ed25519 key-S1", **more}

    return happen


def machine(**changed: object) -> Callable[[World], None]:
    return lambda world: world.machine(BMC, **changed)


REFUSED = {
    "the BMC gives no answer": (machine(bmc="dead"), {}, "gave no answer"),
    "the BMC names another serial": (machine(serial="S7"), {}, "says S7, declared is S1"),
    "the machine is known under another name": (taken_by_another, {}, "knows that machine as n09"),
    "the name is known with another machine": (known_with("S0"), {}, "enrolled with serial S0, declared with S1"),
    "the name is retired": (known_with(retired=True), {}, "a retired name never returns"),
    "declared retired, never enrolled": (machine(), {"disposition": "retired"}, "it was never enrolled"),
}


@pytest.mark.parametrize(("happen", "declared", "why"), REFUSED.values(), ids=REFUSED)
def test_refused_before_anything_is_touched(
    world: World, node: Node, happen: Callable[[World], None], declared: dict[str, Plain], why: str
) -> None:
    happen(world)

    answer = node.create(inputs(**declared), ASK)

    assert isinstance(answer, Refused)
    assert why in str(answer)
    assert "next: " in str(answer)
    assert world.calls("turn_on", "enrol") == []


UNFINISHED = {
    "SSH doesn't answer": (machine(ssh="dead"), "no answer over SSH within 3 s"),
    "the board names another serial than the BMC": (machine(board="S2"), "belong to two machines"),
    "another host key than the pinned one": (known_with(host_key="ssh-ed25519 other"), "not the one pinned"),
    "off, with an order at work on it": (
        lambda world: [known_with()(world), world.busy("n01", "RETIRE-7")],
        "order RETIRE-7 is at work on it",
    ),
}


@pytest.mark.parametrize(("happen", "why"), UNFINISHED.values(), ids=UNFINISHED)
def test_unfinished_and_taken_up_again(world: World, node: Node, happen: Callable[[World], None], why: str) -> None:
    before = world.state()["machines"][BMC]
    happen(world)

    answer = node.create(INPUTS, ASK)

    assert isinstance(answer, Made)
    assert why in answer.unfinished[0]
    assert world.calls("enrol") == []

    world.machine(BMC, ssh="", board="S1", key=before["key"])
    with world.open() as state:
        state["enrolled"], state["busy"] = {}, {}
    finished = node.update("n01", INPUTS, answer.outputs, ASK)
    assert isinstance(finished, Made)
    assert finished.unfinished == ()
    assert world.state()["machines"][BMC]["boots"] == 1


def test_an_interrupted_wait_ends_at_once(world: World, node: Node) -> None:
    world.machine(BMC, ssh="dead")

    answer = node.create(INPUTS, Ask(seconds=3600, interrupted=lambda: bool(world.calls("turn_on"))))

    assert isinstance(answer, Made)
    assert "the run was interrupted" in answer.unfinished[0]


def test_a_parked_node_stays_off(world: World, node: Node) -> None:
    made = node.create(INPUTS, ASK)
    assert isinstance(made, Made)
    world.machine(BMC, power="off")

    parked = node.update("n01", inputs(disposition="parked"), made.outputs, ASK)

    assert isinstance(parked, Made)
    assert parked.outputs["power"] == "off"
    assert len(world.calls("turn_on")) == 1


def test_read_finds_what_was_changed(world: World, node: Node) -> None:
    made = node.create(INPUTS, ASK)
    assert isinstance(made, Made)
    world.machine(BMC, power="off", serial="S7")

    found = node.read("n01", INPUTS, made.outputs)

    assert isinstance(found, Made)
    assert (found.outputs["power"], found.outputs["serial"]) == ("off", "S7")
    assert list(node.diff(INPUTS, found.outputs, INPUTS)) == ["power", "serial"]


def test_read_keeps_what_it_could_not_see(world: World, node: Node) -> None:
    made = node.create(INPUTS, ASK)
    assert isinstance(made, Made)
    world.machine(BMC, bmc="dead")

    found = node.read("n01", INPUTS, made.outputs)

    assert isinstance(found, Made)
    assert found.outputs == made.outputs
    assert "is not known" in found.unfinished[0]


def test_read_sees_that_the_ledger_forgot_it(world: World, node: Node) -> None:
    made = node.create(INPUTS, ASK)
    assert isinstance(made, Made)
    with world.open() as state:
        state["enrolled"] = {}

    found = node.read("n01", INPUTS, made.outputs)

    assert isinstance(found, Made)
    assert list(node.diff(INPUTS, found.outputs, INPUTS)) == ["enrolled"]


def test_import_takes_the_inputs_from_the_inventory(world: World, node: Node) -> None:
    assert isinstance(node.read("n01", {}, {}), Refused)
    with world.open() as state:
        state["declared"] = {"n01": dict(INPUTS)}

    found = node.read("n01", {}, {})

    assert isinstance(found, Made)
    assert found.inputs == INPUTS


DELETED = {
    "never enrolled": (None, Gone()),
    "serving": ({}, Refused),
    "retired, and not certified": ({"retired": True}, Refused),
    "certified, and not retired": ({"certificate": "c.json"}, Refused),
    "retired and certified": ({"retired": True, "certificate": "c.json"}, Gone()),
}


@pytest.mark.parametrize(("known", "expected"), DELETED.values(), ids=DELETED)
def test_delete_only_what_is_retired(
    world: World, node: Node, known: dict[str, object] | None, expected: object
) -> None:
    if known is not None:
        known_with(**known)(world)

    answer = node.delete("n01", INPUTS)

    if expected is Refused:
        assert isinstance(answer, Refused)
        assert "fleet retire n01" in answer.next_step
        assert world.state()["released"] == []
    else:
        assert answer == expected


def test_a_retired_node_may_still_be_noted_so(world: World, node: Node) -> None:
    known_with(retired=True, certificate="c.json")(world)

    assert node.update("n01", inputs(disposition="retired"), INPUTS, ASK) == Made("n01", inputs(disposition="retired"))
    assert isinstance(node.update("n01", INPUTS, INPUTS, ASK), Refused)
    assert world.calls("turn_on", "power") == []


FLAWS = {
    "nothing wrong": ({}, []),
    "a secret instead of a reference": ({"bmcSecret": "hunter2"}, ["bmcSecret"]),
    "a disposition that isn't one": ({"disposition": "gone"}, ["disposition"]),
    "no serial": ({"serial": ""}, ["serial"]),
    "a slot that is no number": ({"slot": "one"}, ["slot"]),
    "an input that nobody knows": ({"colour": "red"}, ["colour"]),
    "another name than before": ({"node": "n02"}, ["node"]),
}


@pytest.mark.parametrize(("changed", "flawed"), FLAWS.values(), ids=FLAWS)
def test_check_is_local(world: World, node: Node, changed: dict[str, Plain], flawed: list[str]) -> None:
    assert [flaw.name for flaw in node.check(INPUTS, inputs(**changed))] == flawed
    assert "hunter2" not in str(node.check(INPUTS, inputs(**changed)))
    assert world.calls() == []


def test_diff_is_local_and_never_replaces(world: World, node: Node) -> None:
    outputs = {**INPUTS, "power": "off", "enrolled": True}

    assert list(node.diff(INPUTS, outputs, INPUTS)) == ["power"]
    assert list(node.diff(INPUTS, outputs, inputs(disposition="parked"))) == ["disposition"]
    assert list(node.diff(INPUTS, {**outputs, "power": "on"}, inputs(rack="r2", slot=3))) == ["rack", "slot"]
    assert world.calls() == []


def test_inputs_and_node_are_each_others_reverse() -> None:
    assert inputs_of(node_of(INPUTS), "lab", "file:.fleet/lab/bmc/n01/password") == INPUTS
