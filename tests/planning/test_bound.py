"""The lower bound of a makespan, against small cases that can be worked out by hand."""

from __future__ import annotations

import pytest

from fleet.model.ids import NodeId
from fleet.model.topology import Domain, DomainKind
from fleet.planning.bound import Work, bound

POOL = Domain(DomainKind.POOL, "p")
RACK = Domain(DomainKind.RACK, "a1")


def works(*takes: float, ready: float = 0.0) -> list[Work]:
    return [Work(NodeId(f"n{i}"), t, ready, (POOL, RACK)) for i, t in enumerate(takes)]


@pytest.mark.parametrize(
    ("stages", "slots", "seconds"),
    [
        pytest.param([works(10)], {}, 10, id="one node"),
        pytest.param([works(10, 10, 10, 10)], {POOL: 2}, 20, id="work over slots"),
        pytest.param([works(10, 10, 10)], {POOL: 2}, 20, id="three of ten in two slots: two of them share one"),
        pytest.param([works(10, 30, 10)], {POOL: 2}, 30, id="the longest node"),
        pytest.param([works(10, 10), works(10)], {POOL: 1}, 30, id="stages follow each other"),
        pytest.param([works(10, 10, ready=5)], {POOL: 1}, 25, id="not before the work has left"),
        pytest.param([works(10, 10, 10)], {POOL: 3, RACK: 1}, 30, id="the tightest domain"),
        pytest.param([], {POOL: 1}, 0, id="nothing"),
    ],
)
def test_bound(stages: list[list[Work]], slots: dict[Domain, int], seconds: float) -> None:
    assert bound(stages, slots).seconds == seconds


def test_it_names_what_holds_the_end_back() -> None:
    assert bound([works(10, 10, 10)], {POOL: 1}).held_back_by == "the budget of pool p"
