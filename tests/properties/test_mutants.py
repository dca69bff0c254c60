"""The properties have teeth: each of these small faults, put into the core on purpose, is caught by one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from fleet.execution.reconcile import Controller
from fleet.lifecycle import fold
from fleet.lifecycle.fold import Looked
from fleet.lifecycle.table import Stage
from fleet.model.ids import FLEET
from fleet.model.observation import NodeSeen
from fleet.model.order import Result
from fleet.planning import capacity, going, opening, planner
from fleet.planning.capacity import Capacity
from tests.properties.endings import unexplained
from tests.properties.stories import crash_points, stories, told

Patch = Callable[[pytest.MonkeyPatch], None]
STORIES = 400


class Caught(Exception):
    """A property failed, as it should."""


def _without_guard(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(planner, "guard", lambda plan, declared, observed: plan)


def _skip(patch: pytest.MonkeyPatch, stage: Stage) -> None:
    patch.setattr(fold, "_STAGES", {**fold._STAGES, stage: lambda scene: None})


def nothing_is_verified(patch: pytest.MonkeyPatch) -> None:
    _skip(patch, Stage.VERIFY)


def nothing_is_opened_again(patch: pytest.MonkeyPatch) -> None:
    _skip(patch, Stage.UNCORDON)


def one_too_many(patch: pytest.MonkeyPatch) -> None:
    slots = Capacity.slots

    def more(self: Capacity, *args: Any) -> int | None:
        found = slots(self, *args)
        return None if found is None else found + 1

    patch.setattr(Capacity, "slots", more)


def who_is_unreachable_counts_as_in(patch: pytest.MonkeyPatch) -> None:
    why_out = capacity.why_out

    def kind(node: Any, seen: Any, enrolled: Any, case: Any) -> str:
        found = why_out(node, seen, enrolled, case)
        return "" if found in ("unreachable", "down", "off") else found

    patch.setattr(capacity, "why_out", kind)


def who_is_cordoned_by_people_counts_as_in(patch: pytest.MonkeyPatch) -> None:
    why_out = capacity.why_out

    def kind(node: Any, seen: Any, enrolled: Any, case: Any) -> str:
        found = why_out(node, seen, enrolled, case)
        return "" if found.startswith("cordoned") and FLEET not in found else found

    patch.setattr(capacity, "why_out", kind)


def nothing_is_drained(patch: pytest.MonkeyPatch) -> None:
    _without_guard(patch)
    _skip(patch, Stage.DRAIN)
    patch.setattr(going, "_forbids", lambda *args: None)
    patch.setattr(Controller, "_look_again", lambda self, *seen: (tuple(seen[-1]), ()))


def a_step_without_an_end_is_done_again(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(going, "look", lambda record, seen, release: Looked(Result.LOST, "not looked"))


def a_step_without_an_end_has_happened(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(going, "look", lambda record, seen, release: Looked(Result.DONE, "not looked"))


def every_cordon_is_ours(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(NodeSeen, "ours", property(lambda seen: bool(seen.cordons)))


def people_are_not_asked(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(opening, "consent", lambda draft, node, want: None)
    patch.setattr(going, "consent", lambda draft, node, want: None)


def drains_never_wait(patch: pytest.MonkeyPatch) -> None:
    count = Controller._count_waiting

    def hasty(self: Controller, observed: Any, decided: Any) -> None:
        for _ in range(20):
            count(self, observed, decided)

    patch.setattr(Controller, "_count_waiting", hasty)


FAULTS: tuple[Patch, ...] = (
    one_too_many,
    who_is_cordoned_by_people_counts_as_in,
    nothing_is_drained,
    nothing_is_verified,
    nothing_is_opened_again,
    a_step_without_an_end_has_happened,
    people_are_not_asked,
    drains_never_wait,
)

RARE_FAULTS: tuple[Patch, ...] = (
    who_is_unreachable_counts_as_in,
    a_step_without_an_end_is_done_again,
    every_cordon_is_ours,
)
"""Faults that show in one story out of hundreds: half a minute each."""


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_in_the_core_is_caught(fault: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    _catch(fault, monkeypatch)


@pytest.mark.soak
@pytest.mark.parametrize("fault", RARE_FAULTS, ids=lambda fault: fault.__name__)
def test_a_rare_fault_in_the_core_is_caught(fault: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    _catch(fault, monkeypatch)


def _catch(fault: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)

    @settings(max_examples=STORIES, phases=[Phase.generate], database=None)
    @given(stories(autonomy=True), crash_points())
    def tell(raw: dict[str, Any], crashes: dict[int, float]) -> None:
        made, nevers = told(raw, crashes)
        simulation = made.stage.simulation
        if nevers.broken or simulation.world.violations or simulation.failures or unexplained(simulation):
            raise Caught

    with pytest.raises(Caught):
        tell()
