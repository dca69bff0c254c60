"""`fleet trail show|verify|export|accept`: who did what and why, and whether the chain holds."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleet.cli.options import As, Inventory, Json, Reason, SomeNodes, Yes, from_input, person
from fleet.cli.say import as_json, ask, out, width
from fleet.errors import LedgerError, Misuse
from fleet.model.trail import TrailEntry, TrailVerdict
from fleet.render.text import line, table

if TYPE_CHECKING:
    from fleet.adapters.ledger_sql import SqlLedger

app = typer.Typer(no_args_is_help=True, help="The reason trail: who did what to which node, when and why.")

Ledger = Annotated[
    Path | None,
    typer.Option("--ledger", help="The ledger's file, where it is not the inventory's.", show_default=False),
]
HOLDS, DOES_NOT_HOLD = 0, 3


@app.command()
def show(
    nodes: SomeNodes = None,
    order: Annotated[str, typer.Option("--order", help="Only this work order.")] = "",
    since: Annotated[str, typer.Option("--since", help="Only the last 2h, 3d, or from 2026-01-31.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many entries, the newest.")] = 50,
    inventory: Inventory = None,
    ledger: Ledger = None,
    json_: Json = False,
) -> None:
    """Show the newest entries, oldest of them first.

    fleet trail show n03 --since 2h
    """
    start = _since(since) if since else None
    with _opened(inventory, ledger) as store:
        names = _node_names(from_input(nodes), inventory)
        found: list[TrailEntry] = []
        for name in names or ("",):
            found.extend(store.trail(node=name, order=order, since=start, limit=limit))
    found = sorted(found, key=lambda entry: entry.seq)[-limit:]
    if json_:
        from fleet.adapters.ledger_sql.trail import as_json as entries_as_json

        as_json("trail", {"entries": entries_as_json(found)})
        return
    if not found:
        out([line("no entries")])
        return
    rows = [(str(one.seq), _moment(one.at), one.who, one.node, one.what, _text(one)) for one in found]
    out(table(("#", "when", "who", "node", "what", "why"), rows, width(), indent=0))


@app.command()
def verify(
    file: Annotated[
        Path | None, typer.Argument(help="An exported trail; the ledger's own where none is named.")
    ] = None,
    inventory: Inventory = None,
    ledger: Ledger = None,
    json_: Json = False,
) -> None:
    """Follow the chain from its beginning, and hold it against its anchor (exit 3: it does not hold).

    fleet trail verify
    fleet trail verify exported.jsonl
    """
    if file is not None:
        from fleet.adapters.ledger_sql.trail import verdict

        found = verdict(_lines(file))
    else:
        with _opened(inventory, ledger) as store:
            found = store.verify_trail()
    _tell(found, json_)
    if not found.good:
        raise typer.Exit(DOES_NOT_HOLD)


@app.command()
def export(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file; standard output otherwise.")] = None,
    inventory: Inventory = None,
    ledger: Ledger = None,
) -> None:
    """Write every entry as a line of JSON, as it was hashed, for a check elsewhere."""
    with _opened(inventory, ledger) as store:
        if output is None:
            _write(store.export_trail(), sys.stdout.write)
            return
        try:
            with output.open("w", encoding="utf-8") as into:
                _write(store.export_trail(), into.write)
        except OSError as error:
            raise Misuse(f"{output}", error.strerror or "it can't be written", "name another file") from error


@app.command()
def accept(
    reason: Reason,
    inventory: Inventory = None,
    ledger: Ledger = None,
    as_: As = None,
    yes: Yes = False,
) -> None:
    """Take a ledger that is older than its anchor for the true one, after the newer one was lost for good.

    What happened since is not in it: look at the nodes first. It is told in the trail, and tokens rise far above
    those that were given before.
    """
    with _opened(inventory, ledger, read_only=False) as store:
        if not store.observe_only:
            out([line("nothing to accept: the ledger holds what was anchored")])
            return
        out([line(store.observe_only)])
        if not ask("Take this ledger for the true one?", yes=yes):
            raise typer.Exit(1)
        store.accept_history(person(as_), reason, datetime.now(UTC))
    out([line("accepted; fleet may act again")])


def _opened(inventory: Path | None, ledger: Path | None, *, read_only: bool = True) -> SqlLedger:
    from fleet.adapters.ledger_sql import open_ledger

    if ledger is None:
        from fleet.app import settings

        ledger = settings(inventory).ledger
    if not ledger.exists():
        raise LedgerError(f"{ledger}: there is no ledger", "nothing was recorded yet", "run `pulumi up` first")
    return open_ledger(ledger, read_only=read_only)


def _node_names(asked: list[str], inventory: Path | None) -> tuple[str, ...]:
    """Names of a node set. For plain names the inventory is not asked: who is gone from it has a trail too."""
    if not asked:
        return ()
    if any("@" in one for one in asked):
        from fleet.app import settings
        from fleet.spec import load
        from fleet.spec.nodesets import resolve

        return resolve(asked, load(settings(inventory).inventory))
    from ClusterShell.NodeSet import NodeSet, NodeSetException

    try:
        return tuple(NodeSet(",".join(asked), resolver=None))
    except NodeSetException as error:
        raise Misuse(",".join(asked), str(error), "write names as n01 or n[01-04]") from error


def _lines(file: Path) -> Iterator[Mapping[str, object]]:
    try:
        with file.open(encoding="utf-8") as lines:
            for number, text in enumerate(lines, start=1):
                found = json.loads(text)
                if not isinstance(found, dict):
                    raise ValueError(f"line {number} is no entry")
                yield found
    except OSError as error:
        raise Misuse(f"{file}", error.strerror or "it can't be read", "name an exported trail") from error
    except ValueError as error:
        raise Misuse(f"{file}", f"it is no exported trail: {error}", "write one with `fleet trail export`") from error


def _tell(found: TrailVerdict, json_: bool) -> None:
    if json_:
        facts = {"good": found.good, "entries": found.entries, "head": found.head, "bad": found.bad, "why": found.why}
        as_json("trail_verdict", facts)
    elif found.good:
        out([line(f"{found.entries} entries hold; head {found.head}")])
    else:
        out([line(f"the trail does not hold: {found.why}"), line(f"the {found.entries} entries before it hold")])


def _write(entries: Iterator[dict[str, object]], write: Callable[[str], object]) -> None:
    for entry in entries:
        write(json.dumps(entry, sort_keys=True, ensure_ascii=False) + "\n")


def _since(text: str) -> datetime:
    from fleet.spec.units import duration

    try:
        return datetime.now(UTC) - duration(text)
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise Misuse(f"--since {text}", "it is neither a length of time nor a date", "write 2h or 2026-01-31") from None
    return found if found.tzinfo is not None else found.astimezone()


def _moment(at: datetime) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _text(entry: TrailEntry) -> str:
    told = ", ".join(f"{key} {value}" for key, value in entry.detail.items() if isinstance(value, str | int | bool))
    return f"{entry.why} ({told})" if entry.why and told else entry.why or told
