"""UCUM units of Redfish in canonical form. Without a unit there is no reading, however plausible the number looks."""

from typing import Any

from fleet.readers.text import number

# UCUM -> canonical unit, factor, offset (value * factor + offset)
UNITS: dict[str, tuple[str, float, float]] = {
    "Cel": ("Cel", 1, 0),
    "cel": ("Cel", 1, 0),
    "[degF]": ("Cel", 5 / 9, -160 / 9),
    "K": ("Cel", 1, -273.15),
    "W": ("W", 1, 0),
    "kW": ("W", 1e3, 0),
    "mW": ("W", 1e-3, 0),
    "MW": ("W", 1e6, 0),
    "V": ("V", 1, 0),
    "mV": ("V", 1e-3, 0),
    "kV": ("V", 1e3, 0),
    "A": ("A", 1, 0),
    "mA": ("A", 1e-3, 0),
    "Hz": ("Hz", 1, 0),
    "kHz": ("Hz", 1e3, 0),
    "MHz": ("Hz", 1e6, 0),
    "GHz": ("Hz", 1e9, 0),
    "%": ("%", 1, 0),
    "RPM": ("RPM", 1, 0),
    "{rev}/min": ("RPM", 1, 0),
    "Pa": ("Pa", 1, 0),
    "kPa": ("Pa", 1e3, 0),
    "J": ("J", 1, 0),
    "kW.h": ("J", 3.6e6, 0),
    "L/min": ("L/min", 1, 0),
}


def canonical(value: Any, unit: Any) -> tuple[float | None, str | None]:
    """Value and unit in canonical form; value None where it is no number, both None where the unit is not known."""
    known = UNITS.get(unit) if isinstance(unit, str) else None
    if known is None:
        return None, None
    name, factor, offset = known
    amount = number(value)
    return (None if amount is None else round(amount * factor + offset, 6)), name
