"""`fleet freeze, unfreeze, stop, go`: what people say to fleet, until when, and why."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Annotated

import typer

from fleet.cli.options import As, Inventory, Json, Nodes, Reason, SomeNodes, from_input, person
from fleet.cli.say import as_json, out
from fleet.errors import Misuse
from fleet.model.observation import Hold
from fleet.render.text import Span, line
from fleet.spec.nodesets import fold, resolve

Until = Annotated[
    str | None, typer.Option("--until", metavar="WHEN", help="2h, 3d, 18:00 or 2026-01-31T18:00.", show_default=False)
]


def freeze(
    nodes: Nodes,
    reason: Reason = "",
    until: Until = None,
    inventory: Inventory = None,
    by: As = None,
    json: Json = False,
) -> None:
    """Planned work on nodes waits (upgrades, corrections, enrolments); repairs go on.

    \b
    fleet freeze @pool:train --until 2d --reason "paper deadline"
    """
    _hold("freeze", nodes, reason, until, inventory, by, json=json)


def unfreeze(nodes: Nodes, reason: Reason = "", inventory: Inventory = None, by: As = None, json: Json = False) -> None:
    """Planned work on nodes may go on.

    \b
    fleet unfreeze @pool:train
    """
    _lift("freeze", nodes, reason, inventory, by, json=json)


def stop(
    nodes: SomeNodes = None, reason: Reason = "", inventory: Inventory = None, by: As = None, json: Json = False
) -> None:
    """Nothing new starts, whatever the purpose: no order opens, no disruptive step begins. What runs ends.

    For the whole fleet a file is written too (.fleet/stop), which stops fleet where the ledger can't be written.

    \b
    fleet stop --reason "storage is down"
    """
    _hold("stop", nodes, reason, None, inventory, by, json=json)


def go(
    nodes: SomeNodes = None, reason: Reason = "", inventory: Inventory = None, by: As = None, json: Json = False
) -> None:
    """End a stop.

    \b
    fleet go --reason "storage is back"
    """
    _lift("stop", nodes, reason, inventory, by, json=json)


def _hold(
    kind: str, nodes: list[str] | None, reason: str, until: str | None, inventory: object, by: str | None, *, json: bool
) -> None:
    from fleet import app

    who = person(by)
    with app.open_fleet(inventory) as fleet:  # type: ignore[arg-type]  # a path or None
        chosen = resolve(from_input(nodes), fleet.declared()) if nodes else ()
        now = fleet.clock.now()
        if kind == "stop" and not chosen:
            fleet.settings.home.mkdir(parents=True, exist_ok=True)
            fleet.settings.stop_file.write_text(f"{who} at {now.isoformat()}: {reason}\n", encoding="utf-8")
        ends = moment_of(until, now) if until else None
        fleet.store.hold(Hold(kind, chosen, who, reason, now, ends))
        _say(kind, chosen, who, f"until {ends:%Y-%m-%d %H:%M}" if ends else "until it is taken back", json=json)


def _lift(kind: str, nodes: list[str] | None, reason: str, inventory: object, by: str | None, *, json: bool) -> None:
    from fleet import app

    who = person(by)
    with app.open_fleet(inventory) as fleet:  # type: ignore[arg-type]  # a path or None
        chosen = resolve(from_input(nodes), fleet.declared()) if nodes else ()
        count = fleet.store.lift(kind, chosen, who, reason, fleet.clock.now())
        if kind == "stop" and not chosen and fleet.settings.stop_file.exists():
            fleet.settings.stop_file.unlink()
            count = max(count, 1)
        word = "ended" if count else "there was none to end"
        _say(f"{kind} {word}", chosen, who, f"{count} taken back", json=json)


def _say(kind: str, nodes: tuple[str, ...], who: str, text: str, *, json: bool) -> None:
    if json:
        as_json("hold", {"said": kind, "nodes": list(nodes), "by": who, "text": text})
        return
    out([line(Span(f"{kind}: {fold(nodes) if nodes else 'all nodes'}", "bold"), f", by {who}, {text}")])


def moment_of(text: str, now: datetime) -> datetime:
    """`2h`, `3d`, `18:00` or a date as a moment after `now`; Misuse for anything else, or for the past."""
    found = re.fullmatch(r"(\d+)([mhdw])", text)
    if found:
        unit = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}[found.group(2)]
        return now + timedelta(**{unit: int(found.group(1))})
    try:
        if re.fullmatch(r"\d{1,2}:\d{2}", text):
            hour, minute = (int(part) for part in text.split(":"))
            there = now.astimezone().replace(hour=hour, minute=minute, second=0, microsecond=0)
            return there if there > now else there + timedelta(days=1)
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Misuse(f"--until {text}", "it is no moment", "write 2h, 3d, 18:00 or 2026-01-31T18:00") from None
    moment = moment.astimezone() if moment.tzinfo is None else moment
    if moment <= now:
        raise Misuse(f"--until {text}", "that is past", "name a moment to come")
    return moment
