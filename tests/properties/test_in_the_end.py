"""In the end every node is as declared, or held with a reason that is true; a failed node keeps no slot in silence."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given, note

from tests.properties.endings import unexplained
from tests.properties.stories import crash_points, stories, told


@given(stories(), crash_points())
def test_in_the_end_everything_is_as_declared_or_explained(raw: dict[str, Any], crashes: dict[int, float]) -> None:
    note(yaml.safe_dump(raw, sort_keys=False))
    made, _ = told(raw, crashes)
    found = unexplained(made.stage.simulation)
    assert not found, "\n".join(found)
