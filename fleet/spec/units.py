"""Durations and amounts as people write them: `10s`, `1h30m`, `2d`, `50%`, `3`."""

from __future__ import annotations

import re
from datetime import timedelta

from fleet.model.policy import Amount

_UNITS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}
_PART = re.compile(r"(\d+(?:\.\d+)?)(w|d|h|m|s)")
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:w|d|h|m|s))+")
_LONGEST = timedelta(days=3660)


def duration(value: object) -> timedelta:
    """A length of time with its units; a bare number has none and is refused."""
    if isinstance(value, timedelta):
        return value
    text = str(value).strip()
    if text == "0":
        return timedelta(0)
    if not _DURATION.fullmatch(text):
        raise ValueError(f"'{text}' is no duration; write it with its unit, as 30s, 90m, 1h30m or 2d")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    if seconds > _LONGEST.total_seconds():
        raise ValueError(f"'{text}' is longer than ten years")
    return timedelta(seconds=seconds)


def amount(value: object) -> Amount:
    """A number of nodes, or a percentage of them."""
    if isinstance(value, Amount):
        return value
    text = str(value).strip()
    if re.fullmatch(r"\d{1,9}", text):
        return Amount(nodes=int(text))
    if re.fullmatch(r"\d{1,3}(?:\.\d+)?\s*%", text):
        percent = float(text.rstrip("% "))
        if percent <= 100:
            return Amount(percent=percent)
    raise ValueError(f"'{text}' is no amount; write a number of nodes as 2, or a percentage up to 100 as 25%")
