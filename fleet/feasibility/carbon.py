"""Grams of CO2 per accelerator-hour: kilowatts x PUE x what the grid emits. Factor sets differ; each figure names its.

Yearly averages of one place differ between sets by a factor of two (London 105.94 against 225 g/kWh), so a figure
without its set says nothing. A provider's PUE isn't in the facts: hired machines are counted without it, and say so.
"""

from __future__ import annotations

from dataclasses import dataclass

from fleet.feasibility.offers import grid
from fleet.model.economy import Burst, Economy


@dataclass(frozen=True, slots=True)
class Carbon:
    """Grams per accelerator-hour, how they come about, and the factor set; None is unknown, `sum` then says why."""

    where: str
    grams: float | None
    sum: str
    source: str


def owned_carbon(economy: Economy, watts: float | None) -> Carbon:
    """Of an accelerator of the site's own that draws so many watts with its share of the machine."""
    factor, pue = economy.grid_gco2_per_kwh, economy.pue
    lacks = [
        name for name, value in (("power of the machines", watts), ("grid", factor), ("pue", pue)) if value is None
    ]
    if watts is None or factor is None or pue is None:
        return Carbon("here", None, f"no {', no '.join(lacks)}", "")
    said = f"{watts / 1000:.3f} kW x PUE {pue:g} x {factor:g} g/kWh"
    return Carbon("here", watts / 1000 * pue * factor, said, economy.grid_source or "site.yaml")


def hired_carbon(burst: Burst, watts: float | None) -> tuple[Carbon, ...]:
    """Of the same accelerator in each region of a burst, its draw taken to be that of the site's own."""
    return tuple(_in_region(burst.provider, region, watts) for region in burst.regions)


def _in_region(provider: str, region: str, watts: float | None) -> Carbon:
    found, where = grid(provider, region), f"{provider} {region}"
    if found is None:
        return Carbon(where, None, "no factor set has this region", "cloud_gpus.yaml carbon_g_per_kwh")
    factor, name = found
    if watts is None:
        return Carbon(where, None, "no power of the machines", name)
    said = f"{watts / 1000:.3f} kW x {factor:g} g/kWh, without the provider's PUE, which isn't known"
    return Carbon(
        where, watts / 1000 * factor, said, f"{name} of cloud_gpus.yaml; sets differ by up to 2 x for a place"
    )
