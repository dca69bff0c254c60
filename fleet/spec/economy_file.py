"""The shape of `economy:` in site.yaml, and what it becomes: what owning costs, and what the site pays clouds.

economy:
  currency: EUR
  energy_price: 0.12 EUR/kWh
  grid: {carbon: 350 g/kWh, source: "the supplier's statement of 2025"}
  pue: 1.3
  staff_per_month: 60000
  life: 4 years
  utilisation: 85 %
  per_usd: 0.92
  cloud_prices: {p5.48xlarge: {price: 40 USD/h, source: our contract, date: 2026-11-01}}
  egress_prices: {aws: 0.02 USD/GB}
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date as Date  # noqa: N812  # `date` is a key of the file
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from fleet.model.economy import Economy, OwnPrice
from fleet.spec.money import Money, PerGB, PerHour, PerKwh, PerMonth
from fleet.spec.quantities import Share
from fleet.spec.reading import SiteReading
from fleet.spec.words import STRICT, Text

PART = "site"
DOLLAR = "USD"

_CARBON = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\s*(g|kg)(?:\s?CO2(?:e|eq)?)?\s*/\s*kWh")
_YEARS = re.compile(r"(\d{1,2}(?:\.\d{1,4})?)\s*(?:y|years?)")


def _carbon(value: object) -> float:
    """Grams of CO2 per kWh."""
    if isinstance(value, float):
        return value
    text = str(value).strip()
    found = _CARBON.fullmatch(text)
    if found is None:
        raise ValueError(f"'{text}' is no carbon intensity; write it as 350 g/kWh")
    return float(found.group(1)) * (1000 if found.group(2) == "kg" else 1)


def _years(value: object) -> float:
    if isinstance(value, float):
        return value
    text = str(value).strip()
    found = _YEARS.fullmatch(text)
    if found is None or float(found.group(1)) <= 0:
        raise ValueError(f"'{text}' is no life of a machine; write it as 4 years")
    return float(found.group(1))


def _with_source(value: object) -> object:
    """`grid: 350 g/kWh` is short for `grid: {carbon: 350 g/kWh}`."""
    return value if isinstance(value, dict) else {"carbon": value}


def _with_price(value: object) -> object:
    """`40 USD/h` is short for `{price: 40 USD/h}`."""
    return value if isinstance(value, dict) else {"price": value}


class GridFile(BaseModel):
    """What the grid emits, and who says so."""

    model_config = STRICT
    carbon: Annotated[float, BeforeValidator(_carbon)]
    source: Text | None = None


class CloudPriceFile(BaseModel):
    """What the site pays for an instance."""

    model_config = STRICT
    price: PerHour | None = None
    spot: PerHour | None = None
    source: Text | None = None
    date: Date | None = None


class EgressPriceFile(BaseModel):
    """What the site pays for data that leaves a cloud."""

    model_config = STRICT
    price: PerGB
    source: Text | None = None
    date: Date | None = None


class EconomyFile(BaseModel):
    """`economy` in site.yaml."""

    model_config = STRICT
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] = DOLLAR
    energy_price: PerKwh | None = None
    grid: Annotated[GridFile, BeforeValidator(_with_source)] | None = None
    pue: float | None = Field(None, ge=1, le=5)
    staff_per_month: PerMonth | None = None
    life: Annotated[float, BeforeValidator(_years)] | None = None
    utilisation: Share | None = None
    per_usd: float | None = Field(None, gt=0, le=1_000_000)
    cloud_prices: dict[Text, Annotated[CloudPriceFile, BeforeValidator(_with_price)]] = {}
    egress_prices: dict[Text, Annotated[EgressPriceFile, BeforeValidator(_with_price)]] = {}


def economy(reading: SiteReading, written: EconomyFile | None) -> Economy:
    """What owning costs at the site; an amount in a currency that can't be turned into the site's is a problem."""
    if written is None:
        return Economy()
    rate = 1.0 if written.currency == DOLLAR else written.per_usd
    for key, found in _amounts(written):
        in_currency(reading, (PART, ("economy", *key)), found, written.currency, rate)

    def own(found: Money | None) -> float | None:
        return None if found is None else converted(found, written.currency, rate)

    return Economy(
        currency=written.currency,
        energy_price=own(written.energy_price),
        grid_gco2_per_kwh=written.grid.carbon if written.grid is not None else None,
        grid_source=(written.grid.source or "") if written.grid is not None else "",
        pue=written.pue,
        staff_per_month=own(written.staff_per_month),
        life_years=written.life,
        utilisation=written.utilisation,
        place=reading.place(PART, ("economy",)),
        per_usd=rate,
        cloud_prices={
            name: OwnPrice(own(one.price), own(one.spot), one.source or "site.yaml", _day(one.date))
            for name, one in written.cloud_prices.items()
        },
        egress_prices={
            name: OwnPrice(own(one.price), None, one.source or "site.yaml", _day(one.date))
            for name, one in written.egress_prices.items()
        },
    )


def converted(found: Money, currency: str, rate: float | None) -> float | None:
    """An amount in the site's currency; None where no rate is declared, or it is in a third one."""
    if found.currency in ("", currency):
        return found.amount
    return found.amount * rate if found.currency == DOLLAR and rate is not None else None


def in_currency(
    reading: SiteReading, at: tuple[str, tuple[object, ...]], found: Money, currency: str, rate: float | None
) -> None:
    """Says what keeps an amount from being counted in the site's currency."""
    if converted(found, currency, rate) is not None:
        return
    text = f"{'.'.join(map(str, at[1]))}: {found.amount:g} {found.currency}, and the site counts in {currency}"
    instead = f"write it in {currency}"
    if found.currency == DOLLAR:
        instead += ", or say in site.yaml what a dollar costs: `economy: {per_usd: 0.92}`"
    reading.say(at[0], at[1], text, instead)


def _amounts(written: EconomyFile) -> Iterator[tuple[tuple[str, ...], Money]]:
    plain: Mapping[tuple[str, ...], Money | None] = {
        ("energy_price",): written.energy_price,
        ("staff_per_month",): written.staff_per_month,
        **{("cloud_prices", name): one.price for name, one in written.cloud_prices.items()},
        **{("cloud_prices", name, "spot"): one.spot for name, one in written.cloud_prices.items()},
        **{("egress_prices", name): one.price for name, one in written.egress_prices.items()},
    }
    yield from ((key, found) for key, found in plain.items() if found is not None)


def _day(found: Date | None) -> str:
    return found.isoformat() if found is not None else ""
