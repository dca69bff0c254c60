"""Two declarations side by side: what the second has, draws, costs and emits more or less, and which problems it has.

A problem is the same in both where its code and its words are: lines move with every edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fleet.feasibility.carbon import owned_carbon
from fleet.feasibility.cost import PoolCost, cost
from fleet.feasibility.offers import HOURS_A_MONTH, egress, offer
from fleet.feasibility.plant_figures import plant_figures
from fleet.feasibility.problem import Problem
from fleet.model.economy import Burst
from fleet.model.topology import Declared, Disposition


@dataclass(frozen=True, slots=True)
class Side:
    """One declaration in figures. Watts at the inlet, money in `currency`; None is unknown, and `missing` says why.

    `hired_month` is the most that bursts may cost: their ceiling all month, or their budgets where those are less.
    """

    site: str
    currency: str
    nodes: int
    accelerators: int
    hired_accelerators: int | None
    peak_w: float | None
    headroom_w: float | None
    owned_month: float | None
    hired_month: float | None
    per_hour: float | None
    grams: float | None
    missing: tuple[str, ...]
    problems: tuple[Problem, ...]

    @property
    def month(self) -> float | None:
        """Owned and hired together."""
        if self.owned_month is None or self.hired_month is None:
            return None
        return self.owned_month + self.hired_month


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Two declarations, the problems that only the second has, and those that it has no more."""

    now: Side
    then: Side
    new: tuple[Problem, ...]
    gone: tuple[Problem, ...]


def what_if(now: Declared, then: Declared, problems_now: Sequence[Problem], problems_then: Sequence[Problem]) -> WhatIf:
    """Both sides, with the problems that `judge` found in each."""
    here = {(one.code, one.what) for one in problems_now}
    there = {(one.code, one.what) for one in problems_then}
    return WhatIf(
        side(now, problems_now),
        side(then, problems_then),
        tuple(one for one in problems_then if (one.code, one.what) not in here),
        tuple(one for one in problems_now if (one.code, one.what) not in there),
    )


def side(declared: Declared, problems: Sequence[Problem]) -> Side:
    """One declaration in figures."""
    members = [node for node in declared.nodes.values() if node.disposition is not Disposition.RETIRED]
    pools, figures = cost(declared), plant_figures(declared)
    known = all(node.model is not None and node.model.draw_w is not None for node in members)
    peak = figures.draw_w if known and all(node.rack for node in members) else None
    granted, pue = declared.plant.power_w, declared.economy.pue
    accelerators = sum(pool.owned.accelerators for pool in pools)
    hired = [_hired(declared, burst) for burst in declared.bursts.values()]
    months = [month for month, _ in hired]
    counts = [count for _, count in hired]
    hours = [None if one.owned.per_hour is None else one.owned.per_hour * one.owned.accelerators for one in pools]
    grams = [_grams(declared, one) for one in pools]
    return Side(
        site=declared.site,
        currency=declared.economy.currency,
        nodes=len(members),
        accelerators=accelerators,
        hired_accelerators=None if None in counts else sum(count or 0 for count in counts),
        peak_w=peak,
        headroom_w=None if granted is None or peak is None or pue is None else granted - peak * pue,
        owned_month=_total([one.owned.per_month for one in pools]),
        hired_month=_total(months),
        per_hour=_average(hours, accelerators),
        grams=_average(grams, accelerators),
        missing=tuple(dict.fromkeys(f"{one.owned.pool}: {text}" for one in pools for text in one.owned.missing)),
        problems=tuple(problems),
    )


def _grams(declared: Declared, one: PoolCost) -> float | None:
    found = owned_carbon(declared.economy, one.owned.watts).grams
    return None if found is None else found * one.owned.accelerators


def _hired(declared: Declared, burst: Burst) -> tuple[float | None, int | None]:
    """The most that a burst may cost in a month, and its accelerators at the ceiling, all of its first type."""
    found = offer(burst.provider, burst.types[0], declared.economy) if burst.types else None
    price = None if found is None else found.price(spot=burst.spot)
    limits = [] if burst.budget_per_month is None else [burst.budget_per_month]
    if burst.budget_per_hour is not None:
        limits.append(burst.budget_per_hour * HOURS_A_MONTH)
    if price is not None and burst.ceiling is not None:
        limits.append(price * burst.ceiling * HOURS_A_MONTH)
    count = None if burst.ceiling is None or found is None or not found.count else burst.ceiling * found.count
    if not limits:
        return None, count
    out = egress(burst.provider, burst.egress_gb_per_month or 0.0, declared.economy)
    return (None if out.amount is None and burst.egress_gb_per_month else min(limits) + (out.amount or 0.0)), count


def _total(values: Sequence[float | None]) -> float | None:
    """The sum; None where one of them is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _average(values: Sequence[float | None], count: int) -> float | None:
    total = _total(values)
    return None if total is None or not count else total / count
