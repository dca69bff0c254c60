"""The runner of `make test`: counts, budgets, and a part that hangs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tools import budget
from tools.budget import Count, Ended, Part


def test_counts_come_from_junit(tmp_path: Path) -> None:
    report = tmp_path / "a.xml"
    report.write_text('<testsuites><testsuite tests="9" failures="1" errors="2" skipped="3"/></testsuites>')
    assert budget.counted(report) == Count(passed=3, failed=3, skipped=3)
    assert budget.counted(tmp_path / "absent.xml") == Count()


@pytest.mark.parametrize(
    ("part", "failed", "trouble"),
    [
        (Part("good", 1, (("true",),)), 0, ""),
        (Part("bad", 1, (("false",), ("true",))), 1, "`false` ended with 1"),
        (Part("slow", 0.0001, (("sleep", "0.05"),)), 1, "over its budget"),
        (Part("empty", 1, ()), 0, "nothing there yet"),
    ],
    ids=lambda value: value.name if isinstance(value, Part) else None,
)
def test_a_part_fails_by_its_commands_or_its_budget(part: Part, failed: int, trouble: str) -> None:
    ended = budget.run(part, "")
    assert (ended.count.failed, ended.trouble) == (failed, trouble)


def test_a_part_that_hangs_is_ended_with_its_children() -> None:
    began = time.monotonic()
    assert budget.call(("sh", "-c", "sleep 60 & sleep 60"), began + 1) == 124
    assert time.monotonic() - began < 15


def test_a_part_without_containers_says_so() -> None:
    ended = budget.run(Part("lab", 1, (("true",),), containers=True), "no root")
    assert (ended.count, ended.trouble) == (Count(skipped=1), "not run: no root")


def test_the_table_shows_minutes_against_the_budget() -> None:
    text = budget.table([Ended(Part("unit", 4, ()), 90, Count(passed=7))])
    assert "unit" in text
    assert "1.5" in text
    assert "4" in text
