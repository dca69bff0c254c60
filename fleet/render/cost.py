"""What an accelerator-hour costs and emits, and two declarations side by side: as tables and as JSON. Pure.

Every price is shown with its date, its source and how sure it is; what isn't known is said to be unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from fleet.feasibility.carbon import Carbon, hired_carbon, owned_carbon
from fleet.feasibility.cost import Hired, PoolCost
from fleet.feasibility.problem import Level, Problem
from fleet.feasibility.what_if import Side, WhatIf
from fleet.model.topology import Declared
from fleet.render.text import Line, Span, line, paragraph, plural, table, title

UNKNOWN = "unknown"
_NOT_COUNTED = (
    "Not counted: storage, networks, the building, machines without accelerators, and what a cloud adds to its list "
    "price or takes off it."
)
_SURE = {"S": "read in a price file", "A": "from a secondary page", "M": "from memory: check it"}
_MARKS = {Level.ERROR: "bad", Level.WARNING: "warn", Level.UNKNOWN: "dim"}


def cost_lines(declared: Declared, found: Sequence[PoolCost], width: int) -> list[Line]:
    """The whole table: each pool's own cost part by part, what hiring would cost instead, and where it is all from."""
    if not found:
        return [line("no pool has accelerators: there is nothing to compare")]
    sources: dict[str, int] = {}
    lines: list[Line] = []
    for one in found:
        lines += [*_owned(declared, one, width), *_hired(one, declared.economy.currency, sources, width), line()]
    lines += paragraph(_NOT_COUNTED, width, style="dim")
    for source, number in sources.items():
        lines += paragraph(f"[{number}] {source}", width, style="dim")
    return lines


def _owned(declared: Declared, one: PoolCost, width: int) -> list[Line]:
    owned, money = one.owned, declared.economy.currency
    boards = f"{owned.accelerators:,} x {owned.board or 'accelerators'}"
    lines = [title(f"pool {owned.pool}: {boards} in {plural(owned.nodes, 'node')}")]
    rows: list[tuple[str | Span, ...]] = [(part.name, _known(part.per_hour, ".3f"), part.sum) for part in owned.parts]
    rows.append((Span("owned", "bold"), _known(owned.per_hour, ".3f", "bold"), _month(one, money)))
    emitted = [owned_carbon(declared.economy, owned.watts)]
    for burst in declared.bursts.values():
        if burst.pool == owned.pool:
            emitted += hired_carbon(burst, owned.watts)
    rows += [(f"carbon {each.where}", _grams(each), _how(each)) for each in emitted]
    return lines + table(("", f"{money} per accelerator-hour", "how"), rows, width)


def _month(one: PoolCost, money: str) -> str:
    owned = one.owned
    if owned.per_month is None:
        return "unknown as long as a part is"
    if owned.utilisation is None:
        return f"{owned.per_month:,.0f} {money} a month, busy all hours (utilisation isn't declared)"
    said = f"{owned.per_month:,.0f} {money} a month at {owned.utilisation:.0%}"
    work = owned.per_hour_of_work
    return said + (f"; {work:.3f} per hour of work" if work is not None else "")


def _hired(one: PoolCost, money: str, sources: dict[str, int], width: int) -> list[Line]:
    if not one.hired:
        return [line(f"  no offer of {one.owned.board or 'its accelerators'} is known")]
    rows: list[tuple[str | Span, ...]] = []
    for each in one.hired:
        name = each.offer.label if each.offer.type else f"{each.offer.provider} by the board"
        name += " spot" if each.spot else ""
        name += f" ({each.declared_by})" if each.declared_by else ""
        month = _known(each.per_month, ",.0f")
        said = each.verdict + (f": {each.sum}" if each.sum else "")
        if each.egress is not None:
            amount = each.egress.amount
            spent = "" if amount is None else f" {amount:,.0f} {money} a month"
            said += f"; egress{spent} ({each.egress.sum})"
        rows.append((name, _known(each.per_hour, ".3f"), month, f"{said} [{_source(each, sources)}]"))
    return table(("instead", f"{money}/h each", "a month", "break-even, and source"), rows, width)


def _source(each: Hired, sources: dict[str, int]) -> int:
    offer = each.offer
    sure = _SURE.get(offer.confidence, offer.confidence)
    text = f"price of {offer.date or 'no stated day'}, {sure}: {offer.source}" + (
        f"; {offer.note}" if offer.note else ""
    )
    if each.egress is not None:
        text += f"; egress: {each.egress.source}, {_SURE.get(each.egress.confidence, each.egress.confidence)}"
    return sources.setdefault(text, len(sources) + 1)


def _grams(found: Carbon) -> Span:
    return _known(found.grams, ",.0f", unit=" g")


def _how(found: Carbon) -> str:
    return found.sum + (f" ({found.source})" if found.source else "")


def _known(value: float | None, form: str, style: str = "", unit: str = "") -> Span:
    return Span(f"{_text(value, form)}{unit}", style) if value is not None else Span(UNKNOWN, "warn")


def _text(value: float | None, form: str) -> str:
    return UNKNOWN if value is None else format(value, form)


def what_if_lines(found: WhatIf, now: str, then: str, width: int) -> list[Line]:
    """Both declarations in one table, then the problems that come and go."""
    rows = [(name, here, there, change) for name, here, there, change in _rows(found.now, found.then)]
    lines = [line("now   ", now), line("then  ", then), line()]
    lines += table(("", "now", "then", "change"), rows, width)
    for side, name in ((found.now, "now"), (found.then, "then")):
        for text in side.missing:
            lines += paragraph(f"unknown {name}: {text}", width, indent=2, style="dim")
    lines += _problems("new problems", found.new, width)
    lines += _problems("problems gone", found.gone, width)
    return lines


def _rows(now: Side, then: Side) -> Iterable[tuple[str | Span, ...]]:
    money = now.currency if now.currency == then.currency else f"{now.currency} and {then.currency}"
    same = now.currency == then.currency
    kilo = 1000.0
    figures: tuple[tuple[str, float | None, float | None, str, float, bool], ...] = (
        ("nodes", now.nodes, then.nodes, ",.0f", 1, True),
        ("accelerators", now.accelerators, then.accelerators, ",.0f", 1, True),
        ("hired accelerators, at most", now.hired_accelerators, then.hired_accelerators, ",.0f", 1, True),
        ("peak kW", now.peak_w, then.peak_w, ",.1f", kilo, True),
        ("headroom kW", now.headroom_w, then.headroom_w, ",.1f", kilo, True),
        (f"owned, {money} a month", now.owned_month, then.owned_month, ",.0f", 1, same),
        (f"hired, {money} a month at most", now.hired_month, then.hired_month, ",.0f", 1, same),
        (f"together, {money} a month", now.month, then.month, ",.0f", 1, same),
        (f"owned, {money} per accelerator-hour", now.per_hour, then.per_hour, ",.3f", 1, same),
        ("gCO2 per accelerator-hour, owned", now.grams, then.grams, ",.0f", 1, True),
        ("problems", len(now.problems), len(then.problems), ",.0f", 1, True),
    )
    for name, here, there, form, unit, comparable in figures:
        change = "" if here is None or there is None or not comparable else _change((there - here) / unit, form)
        yield name, _known(_over(here, unit), form), _known(_over(there, unit), form), change


def _over(value: float | None, unit: float) -> float | None:
    return None if value is None else value / unit


def _change(value: float, form: str) -> str:
    text = format(value, f"+{form}")
    return "" if not float(text.replace(",", "")) else text


def _problems(name: str, found: Sequence[Problem], width: int) -> list[Line]:
    if not found:
        return []
    lines = [title(name)]
    for one in found:
        told = f"{one.place}: {one.what}" + (f" ({one.instead})" if one.instead else "")
        lines += paragraph(f"{one.level} {one.code} {told}", width, indent=2, style=_MARKS[one.level])
    return lines


def cost_facts(declared: Declared, found: Sequence[PoolCost]) -> dict[str, object]:
    """For `--json`: every figure with its sum, and every price with its date, source and confidence."""
    return {
        "site": declared.site,
        "currency": declared.economy.currency,
        "not_counted": _NOT_COUNTED,
        "pools": [_pool_facts(declared, one) for one in found],
    }


def _pool_facts(declared: Declared, one: PoolCost) -> dict[str, object]:
    owned = one.owned
    bursts = [burst for burst in declared.bursts.values() if burst.pool == owned.pool]
    return {
        "pool": owned.pool,
        "accelerator": owned.board,
        "nodes": owned.nodes,
        "accelerators": owned.accelerators,
        "owned": {
            "parts": [asdict(part) for part in owned.parts],
            "per_accelerator_hour": owned.per_hour,
            "per_hour_of_work": owned.per_hour_of_work,
            "per_month": owned.per_month,
            "utilisation": owned.utilisation,
            "missing": list(owned.missing),
        },
        "carbon": [
            asdict(owned_carbon(declared.economy, owned.watts)),
            *(asdict(each) for burst in bursts for each in hired_carbon(burst, owned.watts)),
        ],
        "hired": [_hired_facts(each) for each in one.hired],
    }


def _hired_facts(each: Hired) -> dict[str, object]:
    return {
        "provider": each.offer.provider,
        "type": each.offer.type,
        "board": each.offer.board,
        "burst": each.declared_by,
        "spot": each.spot,
        "per_accelerator_hour": each.per_hour,
        "per_month": each.per_month,
        "egress": asdict(each.egress) if each.egress is not None else None,
        "break_even": each.break_even,
        "verdict": each.verdict,
        "sum": each.sum,
        "price_date": each.offer.date,
        "source": each.offer.source,
        "confidence": each.offer.confidence,
        "note": each.offer.note,
    }


def what_if_facts(found: WhatIf) -> dict[str, object]:
    """For `--json`: both sides and the problems that come and go."""

    def side(one: Side) -> dict[str, object]:
        told = {key: value for key, value in asdict(one).items() if key != "problems"}
        return {**told, "month": one.month, "problems": len(one.problems)}

    return {
        "now": side(found.now),
        "then": side(found.then),
        "new": [asdict(one) for one in found.new],
        "gone": [asdict(one) for one in found.gone],
    }
