"""Quantities with their units."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.spec.quantities import (
    CURRENT,
    DATA,
    FLOW,
    LINK,
    MEMORY,
    POWER,
    TRANSFER,
    VOLTAGE,
    WARMING,
    WARMTH,
    WEIGHT,
    Kind,
    quantity,
    share,
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind", "worth"),
    [
        ("10.2 kW", POWER, 10200),
        ("10kW", POWER, 10000),
        ("40kw", POWER, 40000),
        ("1.5 MW", POWER, 1.5e6),
        ("415 V", VOLTAGE, 415),
        ("60A", CURRENT, 60),
        ("400 Gb/s", LINK, 400),
        ("400Gbps", LINK, 400),
        ("400G", LINK, 400),
        ("1.6 Tb/s", LINK, 1600),
        ("80 GB/s", TRANSFER, 80),
        ("1 TB/s", TRANSFER, 1000),
        ("2 TB", DATA, 2000),
        ("2048 GiB", MEMORY, 2048),
        ("2 TiB", MEMORY, 2048),
        ("300 l/min", FLOW, 300),
        ("18 m3/h", FLOW, 300),
        ("32C", WARMTH, 32),
        ("32 °C", WARMTH, 32),
        ("10 K", WARMING, 10),
        ("10K", WARMING, 10),
        ("130.45 kg", WEIGHT, 130.45),
        ("1.2 t", WEIGHT, 1200),
    ],
)
def test_a_quantity_is_worth(text: str, kind: Kind, worth: float) -> None:
    assert quantity(text, kind) == pytest.approx(worth)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("10", POWER),
        ("10 kW", CURRENT),
        ("60 A", POWER),
        ("400 GB/s", LINK),
        ("400 Gb/s", TRANSFER),
        ("10,5 kW", POWER),
        ("nan W", POWER),
        ("inf W", POWER),
        ("1e400 W", POWER),
        ("-3 W", POWER),
        ("", POWER),
        ("ten kW", POWER),
        ("5 m", VOLTAGE),
    ],
)
def test_what_is_no_such_quantity_says_what_to_write(text: str, kind: Kind) -> None:
    with pytest.raises(ValueError, match=f"; write it .*{kind.example}"):
        quantity(text, kind)


def test_shares() -> None:
    assert [share("85 %"), share("85%"), share("0.85"), share("1"), share("0")] == [0.85, 0.85, 0.85, 1, 0]


@pytest.mark.parametrize("text", ["185%", "1.2", "85", "-1", "eighty", ""])
def test_what_is_no_share(text: str) -> None:
    with pytest.raises(ValueError, match="; write it as 85 %"):
        share(text)


@given(st.text(max_size=20), st.sampled_from([POWER, CURRENT, LINK, TRANSFER, MEMORY, WARMING]))
def test_no_text_is_more_than_a_value_error(text: str, kind: Kind) -> None:
    with suppress(ValueError):
        assert quantity(text, kind) >= 0
