"""`fleet upgrade --rolling POOL`: opens a rollout of the pool's declared release, or takes up the open one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from fleet.cli.options import As, Inventory, Json, Yes, person
from fleet.cli.say import as_json, ask, out, progress, width
from fleet.errors import Misuse
from fleet.model.ids import PoolId, ReleaseId

if TYPE_CHECKING:
    from fleet.app import Fleet
    from fleet.cli.rolling import Wanted

CODES = {"done": 0, "nothing": 0, "halted": 4, "held": 4, "interrupted": 130}


def upgrade(
    rolling: Annotated[str, typer.Option("--rolling", metavar="POOL", help="The pool; node by node, under its floor.")],
    to: Annotated[str | None, typer.Option("--to", metavar="RELEASE", help="The release that git declares.")] = None,
    declare: Annotated[bool, typer.Option("--declare", help="Make the edit in pools.yaml that --to needs.")] = False,
    canary: Annotated[list[str] | None, typer.Option("--canary", metavar="NODES", help="Go first.")] = None,
    exclude: Annotated[list[str] | None, typer.Option("--exclude", metavar="NODES", help="Leave out.")] = None,
    plan_only: Annotated[bool, typer.Option("--plan", help="Show the plan and change nothing.")] = False,
    yes: Yes = False,
    json: Json = False,
    inventory: Inventory = None,
    by: As = None,
) -> None:
    """Bring a pool to its declared release, node by node, never below its floor and without killing a job.

    The plan is shown first, and asks. Killed or interrupted at any point: run it again.

    \b
    fleet upgrade --rolling train                         the release that git declares
    fleet upgrade --rolling train --to amd-2026.2         shows the edit that declares it
    fleet upgrade --rolling train --to amd-2026.2 --declare --yes

    Exit codes: 0 done, or nothing to do; 4 halted, or nodes left held; 130 interrupted.
    """
    from fleet import app
    from fleet.cli.rolling import Wanted, declare_release

    who = person(by)
    wanted = Wanted(PoolId(rolling), tuple(canary or ()), tuple(exclude or ()))
    with app.open_fleet(inventory) as fleet:
        pool = fleet.declared().pools.get(wanted.pool)
        if pool is None:
            raise Misuse(f"--rolling {rolling}", "there is no such pool", f"pools: {', '.join(fleet.declared().pools)}")
        if to is not None and to != pool.release:
            declare_release(fleet, pool, ReleaseId(to), declare=declare, yes=yes)
        raise typer.Exit(_roll(fleet, wanted, who, plan_only=plan_only, yes=yes, json=json))


def _roll(fleet: Fleet, wanted: Wanted, who: str, *, plan_only: bool, yes: bool, json: bool) -> int:
    """Show, ask, run, report; gives the exit code."""
    from fleet.cli.rolling import find_or_plan, follow, open_rollout
    from fleet.render.rollout import report as told
    from fleet.render.rollout import report_facts

    asked = find_or_plan(fleet, wanted)
    progress(asked.lines(width(sys.stderr)))
    if asked.ended is not None or plan_only:
        if json:
            as_json("upgrade", asked.facts())
        return asked.code
    rollout = asked.rollout
    if rollout is None:
        if not ask("Do this?", yes=yes):
            return 1
        rollout = open_rollout(fleet, asked, who)
    report = follow(fleet, rollout)
    if json:
        as_json("upgrade", report_facts(report))
    else:
        out(told(report, width=width()))
    return CODES[report.result]
