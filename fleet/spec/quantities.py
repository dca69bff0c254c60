"""Quantities as people write them, with their units: `10.2 kW`, `415 V`, `400 Gb/s`, `300 l/min`, `85 %`.

`quantiphy` reads numbers and their scale factors; here stands which units each kind takes and what they are worth.
A bare number has no unit and is refused: 10 might be kilowatts or watts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema
from quantiphy import InvalidNumber, Quantity


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of quantity: its units with their worth in the model's unit, and an example to show."""

    name: str
    units: Mapping[str, float]
    example: str
    most: float


POWER = Kind("power", {"w": 1.0, "va": 1.0}, "10.2 kW", 1e10)
VOLTAGE = Kind("voltage", {"v": 1.0}, "415 V", 1e6)
CURRENT = Kind("current", {"a": 1.0}, "60 A", 1e6)
LINK = Kind("link speed", {"b/s": 1e-9, "bps": 1e-9, "bit/s": 1e-9, "": 1e-9}, "400 Gb/s", 1e9)
TRANSFER = Kind("bandwidth", {"B/s": 1e-9, "Bps": 1e-9}, "80 GB/s", 1e9)
DATA = Kind("amount of data", {"B": 1e-9}, "2 TB", 1e12)
MEMORY = Kind("amount of memory", {"B": 1 / 2**30}, "2048 GiB", 1e12)
FLOW = Kind("flow", {"l/min": 1.0, "lpm": 1.0, "l/s": 60.0, "m3/h": 1000 / 60}, "300 l/min", 1e7)
WARMTH = Kind("temperature", {"c": 1.0, "°c": 1.0}, "32 C", 200)
WARMING = Kind("temperature difference", {"k": 1.0, "c": 1.0}, "10 K", 200)
WEIGHT = Kind("weight", {"g": 1e-3, "t": 1e3}, "1200 kg", 1e7)

_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_BYTES = re.compile(r"([0-9.]+)\s*(Ki|Mi|Gi|Ti|Pi)B(/s|ps)?")


def quantity(value: object, kind: Kind) -> float:
    """The quantity in the model's unit; ValueError with what to write where there is no unit, or another's."""
    if isinstance(value, float):
        return value
    text = str(value).strip()
    found = _binary(text, kind)
    if found is None:
        found = _read(text, kind)
    if not math.isfinite(found) or found < 0 or found > kind.most:
        raise ValueError(f"'{text}' is no {kind.name}; write it as {kind.example}")
    return float(f"{found:.12g}")  # without the dust of scale factors


def _binary(text: str, kind: Kind) -> float | None:
    """Bytes by powers of two, which quantiphy takes for units of another kind."""
    match = _BYTES.fullmatch(text)
    unit = f"B{match.group(3) or ''}" if match else ""
    if match is None or unit not in kind.units:
        return None
    return float(match.group(1)) * _BINARY[match.group(2)] * kind.units[unit]


@cache
def _read(text: str, kind: Kind) -> float:
    if re.fullmatch(r"[0-9.]+", text):
        raise ValueError(f"'{text}' has no unit; write it as {kind.example}")
    if "," in text:  # half the world writes 10,5: which is neither 10 nor 105 to a machine
        raise ValueError(f"'{text}' has a comma; write it with a point, as {kind.example}")
    if kind is WARMING:
        text = re.sub(r"\s*K$", "k", text).replace("k", " C")  # a bare K is kilo to quantiphy
    try:
        number, unit = Quantity(text, ignore_sf=False).as_tuple()
    except (InvalidNumber, ValueError):
        raise ValueError(f"'{text}' is no {kind.name}; write it as {kind.example}") from None
    worth = kind.units.get(unit, kind.units.get(unit.lower()) if "B" not in unit else None)
    if worth is None:
        told = f"is in {unit}, which is no unit of {kind.name}" if unit else "has no unit"
        raise ValueError(f"'{text}' {told}; write it as {kind.example}")
    return float(number) * worth


def share(value: object) -> float:
    """A part of a whole, from `85 %` or `0.85`."""
    if isinstance(value, float):
        return value
    text = str(value).strip()
    match = re.fullmatch(r"(\d{1,3}(?:\.\d+)?)\s*%|(0(?:\.\d+)?|1(?:\.0+)?)", text)
    found = None if match is None else float(match.group(1)) / 100 if match.group(1) else float(match.group(2))
    if found is None or found > 1:
        raise ValueError(f"'{text}' is no share; write it as 85 %")
    return found


def _of(kind: Kind) -> Callable[[object], float]:
    return lambda value: quantity(value, kind)


def _written(kind: Kind) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "format": "quantity", "description": f"{kind.name}, as {kind.example}"})


Watts = Annotated[float, BeforeValidator(_of(POWER)), _written(POWER)]
Volts = Annotated[float, BeforeValidator(_of(VOLTAGE)), _written(VOLTAGE)]
Amperes = Annotated[float, BeforeValidator(_of(CURRENT)), _written(CURRENT)]
Gbps = Annotated[float, BeforeValidator(_of(LINK)), _written(LINK)]
"""Gigabits per second."""
GBps = Annotated[float, BeforeValidator(_of(TRANSFER)), _written(TRANSFER)]
"""Gigabytes per second."""
Gigabytes = Annotated[float, BeforeValidator(_of(DATA)), _written(DATA)]
Gibibytes = Annotated[float, BeforeValidator(_of(MEMORY)), _written(MEMORY)]
LitresPerMinute = Annotated[float, BeforeValidator(_of(FLOW)), _written(FLOW)]
Celsius = Annotated[float, BeforeValidator(_of(WARMTH)), _written(WARMTH)]
Kelvin = Annotated[float, BeforeValidator(_of(WARMING)), _written(WARMING)]
Kilograms = Annotated[float, BeforeValidator(_of(WEIGHT)), _written(WEIGHT)]
Share = Annotated[
    float,
    BeforeValidator(share),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0, "maximum": 1}]}),
]
"""0 to 1."""
