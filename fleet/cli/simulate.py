"""`fleet simulate`: play decision scenarios, or a roll over a whole inventory, in virtual time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleet.cli import say
from fleet.errors import FleetError, Misuse
from fleet.model.ids import PoolId, ReleaseId
from fleet.render.text import Line, Span, line, plural

if TYPE_CHECKING:
    from fleet.sim.roll import Ask, Rolled
    from fleet.sim.scenario import Verdict


def simulate(
    files: Annotated[list[Path] | None, typer.Argument(metavar="[FILE]...", help="Decision scenarios.")] = None,
    inventory: Annotated[Path | None, typer.Option(metavar="DIR", help="Roll a fleet of this shape instead.")] = None,
    pool: Annotated[str | None, typer.Option(help="Which pool to roll.")] = None,
    to: Annotated[str | None, typer.Option(metavar="RELEASE", help="The release to bring it to.")] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="How many nodes; as declared where not given.")] = None,
    seed: Annotated[int, typer.Option(help="Another seed is another run; the same one is the same.")] = 0,
    runs: Annotated[int, typer.Option(min=1, help="How often, with one seed after the other.")] = 1,
    crash: Annotated[bool, typer.Option("--crash", help="Kill the controller again and again.")] = False,
    bad: Annotated[bool, typer.Option("--bad", help="Let the release be a bad one: no node is fit under it.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Play decision scenarios, or a whole inventory, on a fleet that does not exist.

    The decisions are made by the same code as on real machines; machines, scheduler and time are made up. A scenario
    prints each statement that does not hold. A roll prints the nodes over time and what became of them. Nothing is
    contacted and nothing is changed. Exit 3: a statement does not hold, or something happened that must never happen.

    Examples:

      fleet simulate tests/cases/decisions/01-*.yaml

      fleet simulate --inventory inventory/lab --pool train --to amd-2026.2 --nodes 12

      fleet simulate --inventory inventory/lab --pool train --to amd-2026.2 --nodes 40 --crash --seed 7
    """
    if inventory is not None and not files:
        from fleet.sim.roll import Ask

        wanted = Ask(PoolId(pool or ""), ReleaseId(to or ""), nodes, seed, crash, bad=bad)
        good = _rolls(inventory, [replace(wanted, seed=each) for each in range(seed, seed + runs)], json)
    elif files and inventory is None:
        good = _scenarios(files, json)
    else:
        raise Misuse("fleet simulate", "it wants scenario files, or an inventory", "see `fleet simulate --help`")
    if not good:
        raise typer.Exit(3)


def _scenarios(files: list[Path], json: bool) -> bool:
    from fleet.sim.scenario import Broken, Verdict, play

    verdicts = []
    for path in files:
        if not path.is_file():
            raise Misuse(str(path), "no such file", "give the path of a scenario")
        try:
            verdicts.append(play(path))
        except FleetError as error:
            broken = (Broken("the scenario can be played", str(error)),)
            verdicts.append(Verdict(path.stem, "", broken, 0))
    if json:
        say.as_json("scenarios", {"scenarios": [_as_facts(verdict) for verdict in verdicts]})
    else:
        say.out(each for verdict in verdicts for each in _told(verdict))
        holding = sum(verdict.holds for verdict in verdicts)
        say.out([line(f"{holding} of {plural(len(verdicts), 'scenario')} hold" + ("s" if len(verdicts) == 1 else ""))])
    return all(verdict.holds for verdict in verdicts)


def _told(verdict: Verdict) -> list[Line]:
    mark = Span("holds  ", "good") if verdict.holds else Span("broken ", "bad")
    lines = [line(mark, f"{verdict.name}: {verdict.title}" if verdict.title else verdict.name)]
    for broken in verdict.broken:
        lines += [line(f"         {broken.statement}"), line(Span(f"           {broken.seen}", "dim"))]
    lines += [line(Span(f"         a pass could not be made: {trouble}", "bad")) for trouble in verdict.trouble]
    return lines


def _as_facts(verdict: Verdict) -> dict[str, object]:
    return {
        "name": verdict.name,
        "title": verdict.title,
        "holds": verdict.holds,
        "broken": [{"statement": broken.statement, "seen": broken.seen} for broken in verdict.broken],
        "trouble": list(verdict.trouble),
        "passes": verdict.passes,
    }


def _rolls(inventory: Path, asked: list[Ask], json: bool) -> bool:
    from fleet.sim.picture import picture, summary
    from fleet.sim.roll import roll
    from fleet.spec.load import load

    declared = load(inventory)
    pool, release = asked[0].pool, asked[0].release
    if pool not in declared.pools:
        known = ", ".join(sorted(declared.pools))
        raise Misuse(f"--pool {pool}".strip(), "no such pool in the inventory", f"one of: {known}")
    if release not in declared.releases:
        known = ", ".join(sorted(declared.releases))
        raise Misuse(f"--to {release}".strip(), "no such release in the inventory", f"one of: {known}")
    found = [roll(declared, ask) for ask in asked]
    if json:
        say.as_json("roll", {"runs": [_figures(each) for each in found]})
    for each in found if not json else ():
        say.out([*(picture(each, say.width()) if len(found) == 1 else []), *summary(each)])
    return all(each.as_wanted for each in found)


def _figures(rolled: Rolled) -> dict[str, object]:
    return {
        "seed": rolled.ask.seed,
        "state": str(rolled.state),
        "ended_well": rolled.ended_well,
        "nodes": len(rolled.nodes),
        "seconds": rolled.seconds,
        "bound_seconds": rolled.bound_seconds,
        "predicted_seconds": rolled.plan.predicted_seconds,
        "lowest_in_service": rolled.lowest,
        "floor": rolled.plan.floor,
        "budget": rolled.plan.budget,
        "on_release": rolled.on_release,
        "steps": dict(rolled.steps),
        "jobs": dict(rolled.jobs),
        "most_reboots": rolled.most_reboots,
        "crashes": rolled.crashes,
        "broken": list(rolled.broken),
        "refused": rolled.plan.refused.text if rolled.plan.refused is not None else "",
    }
