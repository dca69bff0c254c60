"""`fleet check [INVENTORY]`: reads a declaration and judges it. Looks at no machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleet.cli.options import Json
from fleet.errors import InventoryError, Problem
from fleet.model.topology import Declared

if TYPE_CHECKING:
    from fleet.feasibility import Problem as Judged


def check(
    inventory: Annotated[Path | None, typer.Argument(help="The site's directory; the only one otherwise.")] = None,
    json: Json = False,
) -> None:
    """Read an inventory and judge it: syntax, references, trust, whether it can work. Mistakes have file and line.

    \b
    fleet check
    fleet check inventory/lab --json

    Exit code 3: there are errors.
    """
    from fleet.cli.say import as_json, out
    from fleet.feasibility import Level, judge
    from fleet.render.text import Span, line, plural
    from fleet.spec import find_inventory, load

    place = find_inventory(inventory)
    problems: Sequence[Problem] = ()
    warnings: Sequence[Problem] = ()
    declared: Declared | None = None
    try:
        declared = load(place)
    except InventoryError as error:
        problems = error.problems
    if declared is not None:
        found = judge(declared)
        problems = tuple(_told(one) for one in found if one.level is Level.ERROR)
        warnings = tuple(_told(one) for one in found if one.level is not Level.ERROR)
    if json:
        as_json("check", {"inventory": str(place), "problems": _facts(problems), "warnings": _facts(warnings)})
    else:
        told = [line(Span(str(problem), "bad")) for problem in problems]
        told += [line(Span(f"warning: {warning}", "warn")) for warning in warnings]
        if told:
            out(told)
        if declared is not None and not problems:
            size = f"{plural(len(declared.nodes), 'node')} in {plural(len(declared.pools), 'pool')}"
            out([line(Span(f"{place}: {size}, {plural(len(declared.releases), 'release')}: good", "good"))])
    raise typer.Exit(3 if problems else 0)


def _told(found: Judged) -> Problem:
    file, _, number = found.place.rpartition(":")
    place = (file, int(number)) if number.isdigit() else (found.place, 0)
    return Problem(*place, found.what, found.instead)


def _facts(problems: Sequence[Problem]) -> list[dict[str, object]]:
    return [{"file": p.file, "line": p.line, "text": p.text, "instead": p.instead} for p in problems]
