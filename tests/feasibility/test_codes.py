"""Every problem code has a row that says what it means, and a smallest broken declaration that raises it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import fleet.feasibility
from fleet.feasibility import judge
from fleet.feasibility.codes import rows
from fleet.spec import load
from tests.spec.sites import write

EXAMPLES = {path.stem: path for path in sorted((Path(__file__).parent / "codes").glob("*.yaml"))}


def example(code: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(EXAMPLES[code].read_text())
    return found


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_has_its_problem(tmp_path: Path, code: str) -> None:
    broken = example(code)
    problems = [found for found in judge(load(write(tmp_path, broken["files"]))) if found.code == code]
    assert problems, f"{EXAMPLES[code]} raises no {code}"
    text = "\n".join(f"{found.what}\n{found.sum}\n{found.instead}" for found in problems)
    for words in broken["told"]:
        assert words in text
    for found in problems:
        assert re.search(r"\.yaml:\d+$", found.place), f"{code} has no place: {found.place!r}"
        assert found.instead, "what would mend it"
        assert found.source, "where the rule is from"


def raised() -> set[str]:
    """The codes that the source raises, as they stand in it."""
    home = Path(fleet.feasibility.__file__).parent
    areas = {code.partition("-")[0] for code in rows()}
    pattern = re.compile(rf'"((?:{"|".join(sorted(areas))})-[a-z0-9-]+)"')
    return {code for path in home.glob("*.py") for code in pattern.findall(path.read_text())}


def test_every_code_is_explained_and_has_an_example() -> None:
    assert raised() == set(rows()), "codes.yaml and the source name the same codes"
    assert set(rows()) == set(EXAMPLES), "each code has an example"


@pytest.mark.parametrize("code", rows())
def test_a_row_says_what_it_means(code: str) -> None:
    row = rows()[code]
    assert row.level in ("error", "warning", "unknown")
    assert row.says
    assert row.mends
    assert row.source
