"""What must never happen does not happen, whatever the story and wherever the controller dies.

Each rule is about the fleet as it really is, judged after every pass and for every step begun (`fleet.sim.nevers`).
"""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
import yaml
from hypothesis import given, note, settings
from hypothesis import strategies as st

from fleet.sim.ledger import broken_link
from tests.properties.stories import crash_points, stories, told


def _judge(raw: dict[str, Any], crashes: dict[int, float]) -> None:
    note(yaml.safe_dump(raw, sort_keys=False))
    note(f"crashes after durable writes {crashes}")
    made, nevers = told(raw, crashes)
    simulation = made.stage.simulation
    assert not nevers.broken, "\n".join(nevers.broken[:5])
    assert not simulation.world.violations, "\n".join(simulation.world.violations)
    assert not simulation.failures, "\n".join(simulation.failures[:5])
    assert broken_link(simulation.ledger.trail) is None


@given(stories(), st.just({}))
def test_never_without_crashes(raw: dict[str, Any], crashes: dict[int, float]) -> None:
    _judge(raw, crashes)


@given(stories(), crash_points())
def test_never_with_a_crash_anywhere(raw: dict[str, Any], crashes: dict[int, float]) -> None:
    _judge(raw, crashes)


@given(stories(autonomy=True), crash_points())
def test_never_beyond_what_autonomy_allows(raw: dict[str, Any], crashes: dict[int, float]) -> None:
    _judge(raw, crashes)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_never_in_a_long_run() -> None:
    """The same, with fresh stories, for as long as asked."""
    ends = time.monotonic() + 60 * float(os.environ.get("FLEET_SOAK_MINUTES", "30"))
    while time.monotonic() < ends:
        settings(derandomize=False, max_examples=200, deadline=None)(given(stories(), crash_points())(_judge))()
