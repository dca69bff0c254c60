"""When a rollout is over: done, halted, or nothing left that anybody but people can move."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fleet.execution.ending import Ending, ending, retirement
from fleet.model.ids import Because, NodeId, Purpose, RolloutId, Verb
from fleet.model.order import Result, RolloutState
from fleet.model.plan import Held, Plan, Step
from tests.fleets import AT, Fleet

ROLL = RolloutId("roll")


def held(node: str, reason: Because, *names: str) -> Held:
    return Held(NodeId(node), Purpose.UPGRADE, reason, names)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (RolloutState.DONE, Ending.DONE),
        (RolloutState.REVERTED, Ending.HALTED),
        (RolloutState.REFUSED, Ending.HALTED),
        (RolloutState.PAUSED, Ending.HALTED),
        (RolloutState.HALTED, Ending.HALTED),
        (RolloutState.RUNNING, None),
    ],
)
def test_by_the_state_of_the_rollout(state: RolloutState, expected: Ending | None) -> None:
    fleet = Fleet()
    fleet.roll(state=state)
    assert ending(Plan(AT), fleet.observed(), ROLL, ()) is expected


def test_a_halted_rollout_is_over_only_when_nothing_is_under_way() -> None:
    fleet = Fleet()
    fleet.roll(state=RolloutState.HALTED)
    fleet.order("n1", (Verb.CORDON, Result.DONE))
    assert ending(Plan(AT), fleet.observed(), ROLL, ()) is None


def test_what_waits_for_people_and_what_waits_for_that_is_held() -> None:
    fleet = Fleet()
    fleet.roll()
    fleet.cordoned("n3", "bob")
    plan = Plan(AT, held=(held("n3", Because.FOREIGN_CORDON, "bob"), held("n1", Because.BUDGET_FULL, "n3")))
    assert ending(plan, fleet.observed(), ROLL, ()) is Ending.HELD


def test_what_waits_for_a_node_under_way_is_not_over() -> None:
    fleet = Fleet()
    fleet.roll()
    fleet.order("n2", (Verb.CORDON, Result.DONE))
    plan = Plan(AT, held=(held("n1", Because.BUDGET_FULL, "n2"),))
    assert ending(plan, fleet.observed(), ROLL, ()) is None


def test_a_node_out_of_sight_is_waited_for_with_patience() -> None:
    fleet = Fleet()
    fleet.roll()
    plan = Plan(AT, held=(held("n1", Because.OUT_OF_REACH, "n1"),))
    assert ending(plan, fleet.observed(), ROLL, ()) is None
    assert ending(plan, fleet.observed(), ROLL, {NodeId("n1")}) is Ending.HELD


def test_a_pass_that_changes_something_ends_nothing() -> None:
    fleet = Fleet()
    fleet.roll()
    waits = held("n1", Because.FOREIGN_CORDON, "bob")
    step = Step(fleet.order("n2").id, NodeId("n2"), Verb.CORDON, Purpose.UPGRADE)
    assert ending(Plan(AT, steps=(step,), held=(waits,)), fleet.observed(), ROLL, ()) is None


def test_a_retirement_is_over_when_all_are_retired() -> None:
    fleet = Fleet()
    node = NodeId("n1")
    assert retirement(Plan(AT), fleet.observed(), [node], ()) is None
    waits = Plan(AT, held=(held("n1", Because.WIPE_UNPROVEN),))
    assert retirement(waits, fleet.observed(), [node], ()) is Ending.HELD
    fleet.enrolled[node] = replace(fleet.enrolled[node], retired=True)
    assert retirement(Plan(AT), fleet.observed(), [node], ()) is Ending.DONE
