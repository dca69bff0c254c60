"""Lines and tables: nothing is wider than it may be, and nothing is lost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.render.text import duration, moment, plain, table

WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12)
CELLS = st.lists(WORDS, max_size=6).map(" ".join)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59.4, "59 s"), (61, "1 min 01 s"), (3600, "1 h 00 min"), (90000, "1 d 1 h"), (float("inf"), "never")],
)
def test_durations_as_a_person_says_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_moment_of_another_day_has_its_date() -> None:
    now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    assert moment(now, now) == "12:00:00"
    assert moment(datetime(2026, 2, 28, 12, 0, tzinfo=UTC), now) == "2026-02-28 12:00:00"


@given(st.lists(st.tuples(WORDS, WORDS, CELLS), min_size=1, max_size=5), st.integers(60, 200))
def test_a_table_fits_and_holds_every_word(rows: list[tuple[str, str, str]], width: int) -> None:
    text = plain(table(("one", "two", "three"), rows, width))
    assert max(len(line) for line in text.splitlines()) <= width
    for row in rows:
        for cell in row:
            for word in cell.split():
                assert word in text


def test_where_columns_do_not_fit_rows_become_blocks() -> None:
    version = "1:6.14.14.30100200-2226257.24.04"
    text = plain(table(("part", "declared", "applied", "observed"), [("dkms", version, version, version)], 80))
    assert text.splitlines() == [
        "  dkms",
        f"    declared  {version}",
        f"    applied   {version}",
        f"    observed  {version}",
    ]
