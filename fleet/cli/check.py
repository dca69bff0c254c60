"""`fleet check [INVENTORY]`: reads a declaration and judges it. Looks at no machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fleet.cli.options import Json
from fleet.errors import InventoryError, Misuse

if TYPE_CHECKING:
    from fleet.model.topology import Declared
    from fleet.render.check import Finding

    Judged = tuple[Path, tuple[Finding, ...], Declared | None]


def check(
    inventory: Annotated[Path | None, typer.Argument(help="A site's directory, or one that holds several.")] = None,
    json: Json = False,
    explain: Annotated[str | None, typer.Option("--explain", help="Say what a code means; `all` lists them.")] = None,
    cost: Annotated[bool, typer.Option("--cost", help="What it costs, against hiring, and emits.")] = False,
    schema: Annotated[Path | None, typer.Option("--schema", help="Write the JSON Schemas for editors there.")] = None,
    what_if: Annotated[Path | None, typer.Option("--what-if", metavar="DIR", help="Compare with another one.")] = None,
) -> None:
    """Read an inventory and judge it: syntax, references, trust, whether it can work. Mistakes have file and line.

    \b
    fleet check                          the site here, or every site under inventory/
    fleet check inventory/lab --json
    fleet check --explain power-redundancy
    fleet check --cost                   an accelerator-hour, owned and hired
    fleet check --what-if DIR            what another declaration would change

    Exit code 3: there are errors (with --what-if: new ones).
    """
    from fleet.cli.say import as_json
    from fleet.feasibility import Level
    from fleet.render.check import facts
    from fleet.spec import find_inventories

    if explain is not None:
        _explain(explain)
        return
    if schema is not None:
        _write_schemas(schema)
        return
    judged = [(place, *_judged(place)) for place in find_inventories(inventory)]
    if cost or what_if is not None:
        _figures(judged, what_if, json=json)
        return
    wrong = any(each.level is Level.ERROR for _, found, _ in judged for each in found)
    if json:
        sites = [
            {
                "inventory": str(place),
                "problems": facts(found, Level.ERROR),
                "warnings": facts(found, Level.WARNING),
                "unknown": facts(found, Level.UNKNOWN),
            }
            for place, found, _ in judged
        ]
        as_json("check", sites[0] if len(sites) == 1 else {"sites": sites})
    else:
        for place, found, declared in judged:
            _tell(place, found, declared)
    raise typer.Exit(3 if wrong else 0)


def _judged(place: Path) -> tuple[tuple[Finding, ...], Declared | None]:
    """What is wrong with a site, and the site itself where it could be read."""
    from fleet.feasibility import judge
    from fleet.render.check import findings
    from fleet.spec import load

    try:
        declared = load(place)
    except InventoryError as error:
        return findings(error.problems), None
    return findings(judge(declared)), declared


def _figures(judged: list[Judged], other: Path | None, *, json: bool) -> None:
    """Costs, or a comparison with another declaration; what can't be read has no figures."""
    from fleet.cli.check_cost import tell_cost, tell_what_if
    from fleet.spec import find_inventories

    others = [(place, *_judged(place)) for place in find_inventories(other)] if other is not None else []
    for place, found, declared in (*judged, *others):
        if declared is None:
            _tell(place, found, declared)
            raise typer.Exit(3)
    sites, beside = ([(place, read) for place, _, read in each if read is not None] for each in (judged, others))
    if other is not None:
        raise typer.Exit(3 if tell_what_if(sites, beside, json=json) else 0)
    tell_cost(sites, json=json)


def _tell(place: Path, found: tuple[Finding, ...], declared: Declared | None) -> None:
    from fleet.cli.say import out, width
    from fleet.render.check import listing, verdict
    from fleet.render.text import line

    lines = listing(found, width())
    out([*lines, *([line()] if lines else []), verdict(str(place), found, declared)])


def _write_schemas(directory: Path) -> None:
    """One schema for each kind of file; `.vscode/settings.json` of this project shows how an editor is told of them."""
    from fleet.cli.say import progress
    from fleet.render.text import line, plural
    from fleet.spec.schema import schemas

    directory.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (directory / f"{name}.json").write_text(text, encoding="utf-8")
    progress([line(f"wrote {plural(len(schemas()), 'schema')} to {directory}")])


def _explain(code: str) -> None:
    from fleet.cli.say import out, width
    from fleet.feasibility.codes import rows
    from fleet.render.check import code_table, explained
    from fleet.render.text import table

    if code == "all":
        out(table(("code", "level", "says"), code_table(rows()), width(), indent=0))
        return
    row = rows().get(code)
    if row is None:
        from difflib import get_close_matches

        near = get_close_matches(code, list(rows()), 1)
        raise Misuse(f"the code {code}", "there is no such code", f"did you mean {near[0]}?" if near else "try `all`")
    out(explained(row, width()))
