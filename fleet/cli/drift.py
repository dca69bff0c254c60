"""`fleet drift [NODES]`: declared, applied and observed side by side."""

from __future__ import annotations

import typer

from fleet.cli.options import Inventory, Json, SomeNodes, from_input


def drift(nodes: SomeNodes = None, json: Json = False, inventory: Inventory = None) -> None:
    """Declared, applied and observed side by side: pending change, drift, or both at odds.

    \b
    fleet drift
    fleet drift n02 --json

    Exit code 3: a node was changed behind our back.
    """
    from fleet import app
    from fleet.cli.chosen import choose
    from fleet.cli.say import as_json, out, width
    from fleet.render.drift import DRIFTED, compare, facts, lines

    with app.open_fleet(inventory) as fleet:
        chosen = choose(fleet, from_input(nodes))
        declared, observed = fleet.controller().look()
    found = [compare(declared, observed, node) for node in chosen]
    if json:
        as_json("drift", facts(found))
    else:
        out(lines(found, width()))
    raise typer.Exit(3 if any(each.kind in DRIFTED for each in found) else 0)
