"""`fleet rollout list, show, pause, resume, abort`: a rollout by its id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from fleet.cli.options import As, Inventory, Json, Reason, person
from fleet.cli.say import as_json, out, width
from fleet.errors import Misuse
from fleet.model.ids import RolloutId
from fleet.model.order import Rollout, RolloutState
from fleet.model.plan import RolloutMoved

app = typer.Typer(help="Rollouts: list, show, pause, resume, abort.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="ROLLOUT", help="Its id, or the pool whose rollout it is.")]
OVER = frozenset({RolloutState.DONE, RolloutState.REFUSED})


@app.command("list")
def list_(json: Json = False, inventory: Inventory = None) -> None:
    """Open rollouts, and the last one of each pool."""
    from fleet import app as composition
    from fleet.render.text import Span, table

    with composition.open_ledger(composition.settings(inventory)) as store:
        found = store.records().rollouts
    if json:
        as_json("rollouts", {"rollouts": [facts(each) for each in found.values()]})
        return
    rows = [
        (
            each.id,
            each.pool,
            str(each.release),
            Span(str(each.state), _STYLES.get(each.state, "")),
            f"{len(each.passed)}/{len(each.nodes)}",
            each.why,
        )
        for each in found.values()
    ]
    out(table(("rollout", "pool", "release", "state", "done", "why"), rows, width(), indent=0))


_STYLES: Mapping[RolloutState, str] = {RolloutState.HALTED: "bad", RolloutState.DONE: "good"}


@app.command()
def show(rollout: Name, json: Json = False, inventory: Inventory = None) -> None:
    """One rollout: its nodes, steps and times."""
    from fleet import app as composition
    from fleet.render.history import runs
    from fleet.render.rollout import Report, report, report_facts

    with composition.open_ledger(composition.settings(inventory)) as store:
        found = one(store.records().rollouts, rollout)
        ways = runs(store.trail(since=found.opened), found.id)
    result = {"done": "done", "halted": "halted", "reverted": "halted"}.get(found.state, "open")
    told = Report(result=result, rollout=found, runs=ways, shown={}, held=())
    if json:
        as_json("rollout", {**facts(found), "report": report_facts(told)})
    else:
        out(report(told, width=width()))


@app.command()
def pause(rollout: Name, reason: Reason = "", inventory: Inventory = None, by: As = None) -> None:
    """No further node begins; what is under way ends."""
    _move(rollout, RolloutState.PAUSED, f"paused by {person(by)}: {reason}", inventory, by)


@app.command()
def abort(rollout: Name, reason: Reason = "", inventory: Inventory = None, by: As = None) -> None:
    """End it: what is under way ends, nothing else begins, no node goes back."""
    _move(rollout, RolloutState.REFUSED, f"aborted by {person(by)}: {reason}", inventory, by)


@app.command()
def resume(rollout: Name, inventory: Inventory = None, by: As = None) -> None:
    """Let a paused or halted rollout go on; nodes that failed are tried again."""
    from fleet import app as composition
    from fleet.adapters.clock import SystemClock

    with composition.open_ledger(composition.settings(inventory)) as store:
        found = one(store.records().rollouts, rollout)
        if found.state in OVER:
            raise Misuse(f"rollout {found.id}", f"it is {found.state}", f"fleet upgrade --rolling {found.pool}")
        if found.state is RolloutState.RUNNING:
            raise Misuse(f"rollout {found.id}", "it runs already", f"fleet upgrade --rolling {found.pool}")
        store.resume(found.id, person(by), SystemClock().now())
    _said(f"{found.id} goes on with: fleet upgrade --rolling {found.pool}   (or by fleet run)")


def _move(name: str, state: RolloutState, why: str, inventory: object, by: str | None) -> None:
    from fleet import app as composition
    from fleet.adapters.clock import SystemClock

    with composition.open_ledger(composition.settings(inventory)) as store:  # type: ignore[arg-type]  # a path or None
        found = one(store.records().rollouts, name)
        if found.state in OVER:
            raise Misuse(f"rollout {found.id}", f"it is {found.state}", "see fleet rollout list")
        store.commit([RolloutMoved(found.id, state, why.removesuffix(": "))], person(by), SystemClock().now())
    _said(f"{found.id}: {why.removesuffix(': ')}")


def _said(text: str) -> None:
    from fleet.render.text import line

    out([line(text)])


def one(found: Mapping[RolloutId, Rollout], name: str) -> Rollout:
    """The rollout of that id, or the newest of that pool; Misuse where there is none."""
    if name in found:
        return found[RolloutId(name)]
    of_pool = [each for each in found.values() if each.pool == name]
    if of_pool:
        return max(of_pool, key=lambda each: each.opened)
    known = ", ".join(found) or "none yet"
    raise Misuse(f"rollout {name}", "there is no such rollout", f"rollouts: {known}")


def facts(each: Rollout) -> dict[str, object]:
    """A rollout as facts."""
    return {
        "id": each.id,
        "pool": each.pool,
        "release": each.release,
        "state": each.state,
        "opened": each.opened.isoformat(),
        "by": each.by,
        "why": each.why,
        "plan": each.plan,
        "nodes": list(each.nodes),
        "canaries": list(each.canaries),
        "passed": list(each.passed),
        "failed": list(each.failed),
        "resumed": each.resumed,
    }
