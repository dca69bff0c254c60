"""Node sets as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.errors import Misuse
from fleet.model.ids import NodeId
from fleet.spec import load
from fleet.spec.nodesets import fold, resolve

DECLARED = load(Path(__file__).resolve().parents[2] / "inventory" / "lab")
PHASES = {NodeId("n02"): "awaiting_hands"}


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        ([], "n01 n02 n03 n04 n05 n06"),
        (["n[01-03]"], "n01 n02 n03"),
        (["n03", "n01"], "n01 n03"),
        (["n0[1,5]"], "n01 n05"),
        (["@pool:train"], "n01 n02 n03 n04"),
        (["@train"], "n01 n02 n03 n04"),
        (["@pool:train!@rack:r1"], "n03 n04"),
        (["@pool:train&@rack:r1"], "n01 n02"),
        (["@feed:B"], "n03 n04 n06"),
        (["@phase:awaiting_hands"], "n02"),
    ],
)
def test_resolve(texts: list[str], names: str) -> None:
    assert " ".join(resolve(texts, DECLARED, lambda: PHASES)) == names


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("n1", "did you mean n0"),
        ("n[01-09]", "not in the inventory"),
        ("@rack:r9", "there is no rack r9"),
        ("@rock:r1", "no group of kind rock"),
        ("@phase:flying", "no node is in phase flying"),
        ("n[01-", "n[01-"),
        ("", "names no node"),
        ("n[1-99999999999]", "range of more than"),
        ("n[1,2]x[1-300000]", "range of more than"),
    ],
)
def test_what_makes_no_sense_is_named(text: str, says: str) -> None:
    with pytest.raises(Misuse) as error:
        resolve([text], DECLARED, lambda: PHASES)
    assert says in f"{error.value} {error.value.next_step}"


def test_fold() -> None:
    assert fold(["n03", "n01", "n02"]) == "n[01-03]"
