"""Hired capacity: data that may not go there, money that buys nothing, machines that don't match."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from fleet.feasibility.boards import is_known, near, plain_name
from fleet.feasibility.offers import HOURS_A_MONTH, Offer, offer, types
from fleet.feasibility.problem import Level, Problem
from fleet.feasibility.scope import named, spoken
from fleet.lifecycle.table import EXPECTED_SECONDS
from fleet.model.economy import Burst
from fleet.model.ids import PoolId, Verb
from fleet.model.topology import Declared, Pool


def hiring(declared: Declared) -> Iterator[Problem]:
    """Everything that is wrong with what may be hired."""
    for burst in declared.bursts.values():
        pool = declared.pools.get(PoolId(burst.pool))
        if pool is None:
            continue
        yield from _residency(burst, pool)
        offers = list(_offers(declared, burst))
        yield from _machines(burst, pool, offers, is_known(pool.accelerator, declared))
        yield from _lifetime(declared, burst, pool)
        for name, found in offers:
            yield from _prices(declared, burst, name, found)


def _residency(burst: Burst, pool: Pool) -> Iterator[Problem]:
    if pool.data_class and pool.data_class in burst.stays:
        what = (
            f"burst {burst.name} is for pool {pool.id}, whose data ({pool.data_class}) may not leave: nothing is hired"
        )
        fix = f"take {pool.data_class} off `may_not_leave`, or let another pool burst"
        yield Problem("residency-data", Level.ERROR, burst.place, what, fix, "`may_not_leave` of the burst")
    if not pool.regions:
        return
    allowed = {region.lower() for region in pool.regions}
    rule = f"the data of pool {pool.id} may lie in {named(pool.regions)} only"
    outside = [region for region in burst.regions if region.lower() not in allowed]
    if outside:
        what = f"burst {burst.name} hires in {named(outside)}, and {rule}"
        fix = f"hire in {named(pool.regions)}, or add {named(outside)} to the pool's regions"
        yield Problem("residency-burst", Level.ERROR, burst.place, what, fix, "`regions` of the pool")
    elif not burst.regions:
        what = f"burst {burst.name} doesn't say where it hires, and {rule}"
        fix = f"write `regions: [{', '.join(pool.regions)}]`"
        yield Problem("residency-burst-unknown", Level.UNKNOWN, burst.place, what, fix, "`regions` of the pool")


def _offers(declared: Declared, burst: Burst) -> Iterator[tuple[str, Offer | None]]:
    for name in burst.types:
        yield name, offer(burst.provider, name, declared.economy)


def _machines(burst: Burst, pool: Pool, offers: list[tuple[str, Offer | None]], known: bool) -> Iterator[Problem]:
    for name, found in offers:
        if found is None:
            what = f"burst {burst.name} names {name}, which isn't known of {burst.provider}: it can't be judged"
            fix = near(name, types(burst.provider)) or "say its price in site.yaml under `economy: {cloud_prices: ...}`"
            yield Problem("burst-type-unknown", Level.UNKNOWN, burst.place, what, fix, "cloud_gpus.yaml of the facts")
        elif found.board and known and not _same_board(found.board, pool.accelerator):
            what = f"burst {burst.name} hires {name} with {found.board}, and pool {pool.id} has {pool.accelerator}"
            fix, source = f"name a type with {pool.accelerator}, or another pool", f"{found.source} ({found.date})"
            yield Problem("burst-board", Level.ERROR, burst.place, what, fix, source)


def _same_board(one: str, other: str) -> bool:
    """Whether two names may mean one board; `A100` may mean each size of it."""
    first, second = plain_name(one), plain_name(other)
    return first == second or first.startswith(f"{second}-")


def _lifetime(declared: Declared, burst: Burst, pool: Pool) -> Iterator[Problem]:
    release, policy = declared.releases.get(pool.release), pool.policy.burst
    limits = [limit for limit in (burst.lifetime_s, _seconds(policy.lifetime if policy else None)) if limit is not None]
    if not limits:
        return
    if len(set(limits)) > 1:
        what = f"burst {burst.name} lives {spoken(limits[0])}, and policy {pool.policy.name} says {spoken(limits[1])}"
        fix = f"say {spoken(min(limits))} in both; the shorter one holds"
        yield Problem("burst-lifetime-differs", Level.WARNING, burst.place, what, fix, "burst.yaml and policy.yaml")
    verbs = [Verb.CONVERGE, *(release.needs if release is not None else ()), Verb.VERIFY]
    boot = _seconds(policy.boot_deadline if policy else None) or EXPECTED_SECONDS[Verb.REBOOT]
    parts = [("boot", boot), *((verb.value, EXPECTED_SECONDS.get(verb, 0.0)) for verb in verbs)]
    ready = sum(seconds for _, seconds in parts)
    if min(limits) <= ready:
        what = f"burst {burst.name} lives {spoken(min(limits))}, and is ready after {spoken(ready)}: it never serves"
        counted = f"{' + '.join(f'{name} {spoken(seconds)}' for name, seconds in parts)} = {spoken(ready)}"
        fix, rule = f"let it live for more than {spoken(ready)}", "expected durations of verbs (lifecycle/table.py)"
        yield Problem("burst-lifetime-short", Level.ERROR, burst.place, what, fix, rule, counted)


def _prices(declared: Declared, burst: Burst, name: str, found: Offer | None) -> Iterator[Problem]:
    """Money that doesn't buy one machine, or not as many as the ceiling says."""
    if found is None or (burst.budget_per_hour is None and burst.budget_per_month is None):
        return
    price, money = found.price(spot=burst.spot), declared.economy.currency
    source = f"{found.source}, {found.date}, confidence {found.confidence}"
    if price is None:
        kind = "spot price" if burst.spot else "price"
        note = f" ({found.note})" if found.note else ""
        what = f"the {kind} of {found.label} isn't known{note}: the budget of burst {burst.name} can't be judged"
        fix = f"say it in site.yaml: `economy: {{cloud_prices: {{{name}: {{{kind.split()[0]}: ...}}}}}}`"
        yield Problem("burst-price-unknown", Level.UNKNOWN, burst.place, what, fix, source)
        return
    ceiling = burst.ceiling if burst.ceiling is not None else 1
    for limit, hours, word in ((burst.budget_per_hour, 1.0, "hour"), (burst.budget_per_month, HOURS_A_MONTH, "month")):
        if limit is None:
            continue
        if word == "hour" and price > limit:
            what = (
                f"burst {burst.name} may spend {limit:,.2f} {money} an hour, and one {found.label} costs {price:,.2f}"
            )
            counted = f"1 x {price:,.2f} {money}/h > {limit:,.2f} {money}/h"
            fix = f"raise it to {price:,.2f}, or name a cheaper type"
            yield Problem("burst-budget-never", Level.ERROR, burst.place, what, fix, source, counted)
        elif ceiling * price * hours > limit:
            yield _less_than_ceiling(burst, found, price, limit, word, money, source)


def _less_than_ceiling(
    burst: Burst, found: Offer, price: float, limit: float, word: str, money: str, source: str
) -> Problem:
    ceiling = burst.ceiling if burst.ceiling is not None else 1
    begins = f"burst {burst.name} may hire {ceiling} of {found.label}, and {limit:,.2f} {money}"
    if word == "hour":
        fits = int(limit / price + 1e-9)
        what = f"{begins} an hour buy {fits}"
        counted = f"{ceiling} x {price:,.2f} = {ceiling * price:,.2f} {money}/h > {limit:,.2f} {money}/h"
        fix = f"write a ceiling of {fits}, or {ceiling * price:,.2f} an hour"
    else:
        hours = limit / (ceiling * price)
        whole = ceiling * price * HOURS_A_MONTH
        what = f"{begins} a month last {hours:,.0f} h of 730"
        counted = f"{ceiling} x {price:,.2f} x 730 h = {whole:,.2f} {money} > {limit:,.2f} {money}"
        fix = f"plan with {hours:,.0f} h at the ceiling, or write {whole:,.2f} a month"
    return Problem("burst-budget-short", Level.WARNING, burst.place, what, fix, source, counted)


def _seconds(time: timedelta | None) -> float | None:
    return time.total_seconds() if time is not None else None
