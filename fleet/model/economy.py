"""Money, carbon, and capacity that is hired."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class OwnPrice:
    """A price that the site itself knows, in its currency, with where it is from. None is unknown."""

    amount: float | None = None
    spot: float | None = None
    source: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Economy:
    """What owning costs at a site. Money is in `currency`; None is unknown.

    `energy_price` is per kWh; `grid_gco2_per_kwh` grams; `staff_per_month` for the whole site; `life_years` over which
    a machine is written off; `utilisation` the share of hours in which accelerators work. `per_usd` is what one US
    dollar costs in `currency`, without which the public prices of clouds can't be compared. `cloud_prices` are per
    instance and hour by instance type, `egress_prices` per GB by provider; both hold over the public lists.
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
    per_usd: float | None = None
    cloud_prices: Mapping[str, OwnPrice] = field(default_factory=dict)
    egress_prices: Mapping[str, OwnPrice] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Burst:
    """Capacity that a pool may hire: where, what, how much, for how long, and which data may not leave.

    Money is in the site's currency. `types` stand in the order in which they are tried. `stays` are the classes of data
    that may not leave the site.
    """

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
    stays: tuple[str, ...] = ()
    egress_gb_per_month: float | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Tenant:
    """Who shares a pool, with a quota of accelerators."""

    name: str
    accelerators: int | None = None
    priority: int = 0
    place: str = ""
