"""`fleet status`: pools, racks, phases, who eats the budget, and what needs a person."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Annotated

import typer

from fleet.cli.options import Inventory, Json, SomeNodes, from_input


def status(
    nodes: SomeNodes = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Draw it anew until you interrupt.")] = False,
    json: Json = False,
    inventory: Inventory = None,
) -> None:
    """Pools, racks and phases, who eats the budget, and at the end what needs you, each with its command.

    \b
    fleet status
    fleet status @rack:r1
    fleet status @phase:awaiting_hands --json
    """
    from fleet import app
    from fleet.cli.chosen import standing
    from fleet.cli.say import as_json, out, width
    from fleet.render.standing import phases
    from fleet.render.status import facts
    from fleet.render.status import status as lines
    from fleet.spec.nodesets import resolve

    texts = from_input(nodes)
    with app.open_fleet(inventory) as fleet:
        while True:
            declared, observed, _, found = standing(fleet)
            known = dict(found)
            chosen = resolve(texts, declared, lambda known=known: phases(known))  # type: ignore[misc]  # bound now
            found = {node: found[node] for node in chosen}
            if json:
                as_json("status", facts(declared, observed, found, fleet.notes()))
                return
            if watch:
                typer.echo("\033[2J\033[H", nl=False)
            zone = datetime.now().astimezone().tzinfo
            out(lines(declared, observed, found, width=width(), zone=zone, notes=fleet.notes()))
            if not watch:
                return
            time.sleep(max(fleet.settings.interval, 1.0))
