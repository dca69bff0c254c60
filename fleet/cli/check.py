"""`fleet check [INVENTORY]`: reads a declaration and judges it. Looks at no machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fleet.cli.options import Json
from fleet.errors import InventoryError, Problem
from fleet.model.topology import Declared


def check(
    inventory: Annotated[Path | None, typer.Argument(help="The site's directory; the only one otherwise.")] = None,
    json: Json = False,
) -> None:
    """Read an inventory and judge it: syntax, references, trust. Every mistake is named with its file and line.

    \b
    fleet check
    fleet check inventory/lab --json

    Exit code 3: there are errors.
    """
    from fleet.cli.say import as_json, out
    from fleet.render.text import Span, line, plural
    from fleet.spec import find_inventory, load

    place = find_inventory(inventory)
    problems: Sequence[Problem] = ()
    declared: Declared | None = None
    try:
        declared = load(place)
    except InventoryError as error:
        problems = error.problems
    if declared is not None:
        problems = _untrusted(declared)
    if json:
        listed = [{"file": p.file, "line": p.line, "text": p.text, "instead": p.instead} for p in problems]
        as_json("check", {"inventory": str(place), "problems": listed})
    else:
        out([line(Span(str(problem), "bad")) for problem in problems])
        if declared is not None and not problems:
            size = f"{plural(len(declared.nodes), 'node')} in {plural(len(declared.pools), 'pool')}"
            out([line(Span(f"{place}: {size}, {plural(len(declared.releases), 'release')}: good", "good"))])
    raise typer.Exit(3 if problems else 0)


def _untrusted(declared: Declared) -> tuple[Problem, ...]:
    used = {pool.release for pool in declared.pools.values()} | {declared.target(n) for n in declared.nodes.values()}
    return tuple(
        Problem(release.place.partition(":")[0] or str(release.id), 0, release.untrusted, "sign it: fleet release sign")
        for release in declared.releases.values()
        if release.untrusted and release.id in used
    )
