"""What clouds offer: instance types with their prices, egress and grids, as `cloud_gpus.yaml` has them.

Every price carries its date, source and confidence, since public prices move and contradict each other. What is not
published is None, never 0. A price that the site itself declares holds over the public one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from fleet import facts
from fleet.feasibility.boards import plain_name
from fleet.model.economy import Economy

GIB = 2**30
HOURS_A_MONTH = 730.0
"""8,760 hours a year over twelve."""

_UNIT = {"GB": 1.0, "GIB": 1.0, "TB": 1024.0, "TIB": 1024.0}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(GiB|TiB|GB|TB)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Offer:
    """An instance type: `count` boards for `per_hour` in the currency of who asks. None is unknown."""

    provider: str
    type: str
    board: str
    count: int
    per_hour: float | None
    spot: float | None
    source: str
    date: str
    confidence: str
    note: str = ""

    def price(self, *, spot: bool) -> float | None:
        """Per instance and hour; a spot price that isn't known is not the other one."""
        return self.spot if spot else self.per_hour

    @property
    def label(self) -> str:
        """Provider and type."""
        return f"{self.provider} {self.type}".strip()


@dataclass(frozen=True, slots=True)
class Egress:
    """What it costs to take data out: `amount` a month, how it comes about, and who says so. None is unknown."""

    amount: float | None
    sum: str
    source: str
    confidence: str = ""


@cache
def _table() -> Any:
    return facts.document("cloud_gpus")


@cache
def _rows() -> tuple[Offer, ...]:
    """All offers in US dollars."""
    return tuple(_read(_table()))


def _read(table: Any) -> Iterator[Offer]:
    day, instances = str(table["as_of"]), table["instances"]
    for provider, rows in instances.items():
        if provider.endswith("_source"):
            continue
        source = _told(instances.get(f"{provider}_source", ""))
        for row in rows:
            if "usd_per_gpu_h" in row:  # sold by the board
                seller, price, spot = row["provider"].lower(), row["usd_per_gpu_h"], row.get("spot_usd_per_gpu_h")
                name, count = "", 1
            else:
                seller, price, spot = provider, row.get("price_usd_h"), row.get("spot_usd_h")
                name, count = row["type"], row["count"]
            told = _told(row.get("source", source))
            yield Offer(seller, name, row["gpu"], count, price, spot, told, day, row["confidence"], row.get("note", ""))


def providers() -> frozenset[str]:
    """Who offers machines, as far as the facts know."""
    return frozenset(offer.provider for offer in _rows())


def types(provider: str) -> tuple[str, ...]:
    """The instance types of a provider; boards where it sells by the board."""
    return tuple(offer.type or offer.board for offer in _rows() if offer.provider == provider)


def offer(provider: str, name: str, economy: Economy) -> Offer | None:
    """An instance type of a provider, priced in the site's currency; None where nobody knows it."""
    found = next(
        (o for o in _rows() if o.provider == provider and name in (o.type, o.board if not o.type else "")), None
    )
    if found is None and name in economy.cloud_prices:
        found = Offer(provider, name, "", 0, None, None, "", "", "")
    return None if found is None else _priced(found, economy)


def offers_for(board: str, economy: Economy) -> tuple[Offer, ...]:
    """Every offer of a board, priced in the site's currency. `A100` means all sizes of it."""
    wanted = plain_name(board)
    found = [o for o in _rows() if plain_name(o.board) == wanted]
    found = found or [o for o in _rows() if plain_name(o.board).startswith(f"{wanted}-") and wanted]
    return tuple(_priced(each, economy) for each in found)


def _priced(found: Offer, economy: Economy) -> Offer:
    own = economy.cloud_prices.get(found.type or found.board)
    rate = economy.per_usd if economy.currency != "USD" else 1.0
    price, spot, source, day = found.per_hour, found.spot, found.source, found.date
    price = price * rate if price is not None and rate is not None else None
    spot = spot * rate if spot is not None and rate is not None else None
    sure = found.confidence
    if own is not None:
        price = own.amount if own.amount is not None else price
        spot = own.spot if own.spot is not None else spot
        source, day, sure = own.source, own.date, "the site's own"
    note = found.note
    if rate is None and own is None and found.per_hour is not None:
        note = f"priced in USD, and the site counts in {economy.currency} without `per_usd`"
    return Offer(found.provider, found.type, found.board, found.count, price, spot, source, day, sure, note)


def egress(provider: str, gigabytes: float, economy: Economy) -> Egress:
    """What a month's data costs that leaves a provider, in the site's currency, by its tiers."""
    own = economy.egress_prices.get(provider)
    if own is not None and own.amount is not None:
        said = f"{gigabytes:,.0f} GB x {own.amount:g} {economy.currency}/GB"
        return Egress(gigabytes * own.amount, said, own.source, "the site's own")
    row = next((r for r in _table()["egress_usd_per_gib"] if r["cloud"] == provider), None)
    rate = economy.per_usd if economy.currency != "USD" else 1.0
    if row is None or rate is None:
        why = f"no egress price of {provider} is known" if row is None else "`economy.per_usd` isn't declared"
        return Egress(None, why, "cloud_gpus.yaml egress_usd_per_gib", "unknown")
    gib = gigabytes * 1e9 / GIB
    total, parts = 0.0, []
    for amount, price in _portions(row["tiers"], gib):
        total += amount * price
        parts.append(f"{amount:,.0f} GiB x {price:g}")
    said = f"{gigabytes:,.0f} GB = {' + '.join(parts)} USD/GiB"
    source = f"cloud_gpus.yaml egress_usd_per_gib of {_table()['as_of']}"
    return Egress(total * rate, said, source, row["confidence"])


def _portions(tiers: Mapping[str, float], gib: float) -> Iterator[tuple[float, float]]:
    """How much falls into each tier, and its price; tiers are `first X`, `to X`, `next X`, `X-Y`, `above`."""
    below = 0.0
    for words, price in tiers.items():
        size = _SIZE.search(words.split("-")[-1]) if "above" not in words else None
        top = float("inf")
        if size is not None:
            top = float(size.group(1)) * _UNIT[size.group(2).upper()] + (below if words.startswith("next") else 0.0)
        amount = max(min(gib, top) - below, 0.0)
        if amount > 0:
            yield amount, price
        below = top


def grid(provider: str, region: str) -> tuple[float, str] | None:
    """Grams of CO2 per kWh of a region's grid, and the set of factors that says so; None where none has the region."""
    for name, factors in _table()["carbon_g_per_kwh"].items():
        if name.split("_")[0] == provider and not name.endswith("cfe_2024") and region in factors:
            return float(factors[region]), name
    return None


def _told(source: object) -> str:
    return "; ".join(map(str, source)) if isinstance(source, list) else str(source)
