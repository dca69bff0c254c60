"""When the vendors' tools are asked: they cost more than all the rest of a look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fleet.adapters.paramiko_ssh import SshObserve
from fleet.model.ids import NodeId, PoolId
from fleet.model.topology import DeclaredNode

NODE = DeclaredNode(NodeId("n1"), PoolId("p"), "S1", (), address="192.0.2.1", accelerators=1)
TELLS = {"exit_code": 0, "timed_out": False, "stderr": ""}
VERSION = '[{"tool": "AMDSMI Tool", "rocm_version": "7.0.2", "amdgpu_version": "6.14.14"}]'
METRIC = '[{"gpu": 0, "ecc": {"total_uncorrectable_count": 0}, "temperature": {"hotspot": {"value": 40, "unit": "C"}}}]'


class Machine:
    """Stands for the pool: answers probes, and keeps which of them asked the tools."""

    def __init__(self) -> None:
        self.asked: list[bool] = []
        self.state: dict[str, Any] = {"boot": "b1", "token": 3, "lock": None}

    def call(self, target: object, program: str, request: Mapping[str, Any], *, limit: float) -> dict[str, Any]:
        self.asked.append(request["tools"])
        tools = {
            "amd-smi version": {**TELLS, "stdout": VERSION},
            "amd-smi metric": {**TELLS, "stdout": METRIC},
        }
        return {"now": 1e9, "serial": "S1", **self.state, "tools": tools if request["tools"] else {}}


@pytest.fixture
def machine() -> Machine:
    return Machine()


def looks(machine: Machine, count: int, every: float = 60) -> SshObserve:
    found = SshObserve(machine, lambda node: "key", tools_every=every)  # type: ignore[arg-type]
    for _ in range(count):
        found.look([NODE])
    return found


def test_a_well_node_is_asked_once_in_a_while(machine: Machine) -> None:
    looks(machine, 3)
    assert machine.asked == [True, False, False]


def test_every_look_asks_when_the_while_is_over(machine: Machine) -> None:
    looks(machine, 3, every=0)
    assert machine.asked == [True, True, True]


@pytest.mark.parametrize("change", [{"boot": "b2"}, {"token": 4}, {"lock": {"order": "o1"}}])
def test_what_a_step_of_ours_changes_makes_it_ask_again_at_once(machine: Machine, change: dict[str, Any]) -> None:
    observe = looks(machine, 1)
    machine.state.update(change)
    observe.look([NODE])
    assert machine.asked == [True, False, True]


def test_what_is_not_well_is_asked_at_every_look(machine: Machine) -> None:
    machine.state["gaps"] = [{"what": "log", "why": "the journal was cut"}]
    looks(machine, 3)
    assert machine.asked == [True, True, True]
