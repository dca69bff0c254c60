"""Every reason has words; those that only a person can end have a next step."""

from __future__ import annotations

import pytest

from fleet.model.ids import Because, NodeId, Phase, Purpose
from fleet.model.plan import Held
from fleet.render.reasons import MEANINGS, for_person, next_step, words
from fleet.render.why import PHASES


@pytest.mark.parametrize("reason", list(Because))
def test_every_reason_has_words(reason: Because) -> None:
    held = Held(NodeId("n01"), Purpose.UPGRADE, reason, ("bob",), "")
    assert words(held)
    assert reason in MEANINGS


@pytest.mark.parametrize("reason", [reason for reason in Because if MEANINGS[reason].person])
def test_what_only_people_end_names_what_to_type(reason: Because) -> None:
    held = Held(NodeId("n01"), Purpose.UPGRADE, reason, ("bob",), "")
    assert for_person(held)
    assert next_step(held)
    assert "{" not in next_step(held)


def test_who_eats_the_budget_is_named() -> None:
    held = Held(
        NodeId("n01"), Purpose.UPGRADE, Because.BUDGET_FULL, (NodeId("n03"),), "budget of pool train: 1 of 1 out"
    )
    assert words(held).endswith("budget of pool train: 1 of 1 out (n03)")


@pytest.mark.parametrize("phase", list(Phase))
def test_every_phase_has_words(phase: Phase) -> None:
    assert PHASES[phase]
