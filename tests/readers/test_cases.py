"""Every case of `tests/cases`: a reader may say more than a case expects, and never what contradicts it.

A case in `UNSOLVED` or in `tests/cases_disputed.yaml` must fail: once it passes, its entry has to go.
"""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest
import yaml

from fleet.readers import registry
from tests.readers.cases import Case, all_cases, contradictions

CASES = tuple(all_cases())
UNSOLVED: dict[str, str] = {}
_DISPUTED = Path(__file__).resolve().parent.parent / "cases_disputed.yaml"
DISPUTED = {row["case"]: row["evidence"] for row in yaml.safe_load(_DISPUTED.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.area}/{case.name}")
def test_case(case: Case) -> None:
    wrong = contradictions(case, case.reading())
    known = UNSOLVED.get(case.name) or DISPUTED.get(f"{case.area}/{case.name}")
    if known:
        assert wrong, f"{case.name} passes: take it off the list ({known})"
        pytest.xfail(known)
    assert not wrong, "\n".join(wrong)


def test_every_kind_has_a_reader() -> None:
    assert {case.body["kind"] for case in CASES} <= set(registry.READERS)


def test_lists_name_cases() -> None:
    names = {case.name for case in CASES} | {f"{case.area}/{case.name}" for case in CASES}
    assert {*UNSOLVED, *DISPUTED} <= names


def test_a_flood_costs_neither_time_nor_memory() -> None:
    case = next(case for case in CASES if "generate" in case.body)
    content, limits = case.content, case.body["expect"]["limits"]
    begun = time.perf_counter()
    registry.read(case.body["kind"], content, case.context)
    assert time.perf_counter() - begun < limits["seconds"]
    tracemalloc.start()
    registry.read(case.body["kind"], content, case.context)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < limits["memory_mib"] * 1024 * 1024
