"""Money, carbon, and capacity that is hired."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Economy:
    """What owning costs at a site. Money is in `currency`; None is unknown.

    `energy_price` is per kWh; `grid_gco2_per_kwh` grams; `staff_per_month` for the whole site; `life_years` over which
    a machine is written off; `utilisation` the share of hours in which accelerators work.
    """

    currency: str = "USD"
    energy_price: float | None = None
    grid_gco2_per_kwh: float | None = None
    grid_source: str = ""
    pue: float | None = None
    staff_per_month: float | None = None
    life_years: float | None = None
    utilisation: float | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Burst:
    """Capacity that a pool may hire: where, what, how much, for how long, and which data may not leave."""

    name: str
    pool: str
    provider: str
    regions: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    ceiling: int | None = None  # nodes at once
    budget_per_hour: float | None = None
    budget_per_month: float | None = None
    lifetime_s: float | None = None
    spot: bool = False
    data_class: str = ""
    egress_gb_per_month: float | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Tenant:
    """Who shares a pool, with a quota of accelerators."""

    name: str
    accelerators: int | None = None
    priority: int = 0
    place: str = ""
