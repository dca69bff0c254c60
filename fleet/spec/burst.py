"""burst.yaml as the model's Bursts: names looked up, money counted in the site's currency."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fleet.model.economy import Burst, Economy
from fleet.spec.burst_file import BurstFile, BurstsFile, Buying
from fleet.spec.economy_file import converted, in_currency
from fleet.spec.money import Money
from fleet.spec.reading import SiteReading

PART = "burst"


def bursts(
    reading: SiteReading, written: BurstsFile, pools: Iterable[str], economy: Economy | None = None
) -> Mapping[str, Burst]:
    """Everything that may be hired; a pool or a provider that nobody knows is a problem."""
    from fleet.feasibility.offers import providers

    known, sellers, economy = frozenset(pools), providers(), economy or Economy(per_usd=1.0)
    found = {}
    for name, one in written.bursts.items():
        reading.known_in(PART, ("bursts", name, "pool"), "pool", one.pool, known)
        reading.known_in(PART, ("bursts", name, "provider"), "provider", one.provider, sellers)
        found[name] = _burst(reading, name, one, economy)
    return found


def _burst(reading: SiteReading, name: str, one: BurstFile, economy: Economy) -> Burst:
    def own(key: str, amount: Money | None) -> float | None:
        if amount is None:
            return None
        rate = economy.per_usd
        in_currency(reading, (PART, ("bursts", name, "budget", key)), amount, economy.currency, rate)
        return converted(amount, economy.currency, rate)

    return Burst(
        name=name,
        pool=one.pool,
        provider=one.provider,
        regions=tuple(one.regions),
        types=tuple(one.types),
        ceiling=one.ceiling,
        budget_per_hour=own("hour", one.budget.hour),
        budget_per_month=own("month", one.budget.month),
        lifetime_s=one.lifetime.total_seconds() if one.lifetime is not None else None,
        spot=one.buy is Buying.SPOT,
        stays=tuple(one.may_not_leave),
        egress_gb_per_month=one.egress_per_month,
        place=reading.place(PART, ("bursts", name)),
    )
