"""Money as people write it: `0.12`, `0.12 EUR/kWh`, `400 USD/h`. What it is for is fixed by the key."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

_EXAMPLES = {"kWh": "0.12", "GB": "0.05", "h": "40"}
_MONEY = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([A-Z]{3})?\s*(/\s*[A-Za-z]+)?")


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in a currency; empty where none is named, which is the site's."""

    amount: float
    currency: str = ""


def money(value: object, per: str) -> Money:
    """The amount; ValueError with what to write where it is none, or is for another thing than `per`."""
    if isinstance(value, Money):
        return value
    text = str(value).strip()
    example = f"{_EXAMPLES.get(per, '60000')} EUR/{per}"
    if "," in text:
        raise ValueError(f"'{text}' has a comma; write it with a point, as {example}")
    found = _MONEY.fullmatch(text)
    if found is None:
        raise ValueError(f"'{text}' is no price; write it as {example}")
    for_what = (found.group(3) or "").lstrip("/ ")
    if for_what and for_what.lower() != per.lower():
        raise ValueError(f"'{text}' is per {for_what}, and it is per {per}; write it as {example}")
    return Money(float(found.group(1)), found.group(2) or "")


def _per(what: str) -> Callable[[object], Money]:
    return lambda value: money(value, what)


_WRITTEN = WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]})

PerHour = Annotated[Money, BeforeValidator(_per("h")), _WRITTEN]
PerMonth = Annotated[Money, BeforeValidator(_per("month")), _WRITTEN]
PerKwh = Annotated[Money, BeforeValidator(_per("kWh")), _WRITTEN]
PerGB = Annotated[Money, BeforeValidator(_per("GB")), _WRITTEN]
