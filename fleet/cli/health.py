"""`fleet health [NODES]`: open cases with their evidence, the remedy that is tried, and the next step."""

from __future__ import annotations

from fleet.cli.options import Inventory, Json, SomeNodes, from_input


def health(nodes: SomeNodes = None, json: Json = False, inventory: Inventory = None) -> None:
    """Open cases, with their evidence, the remedy that is tried, and what comes next.

    \b
    fleet health
    fleet health @rack:r1 --json
    """
    from datetime import datetime

    from fleet import app
    from fleet.cli.chosen import standing
    from fleet.cli.say import as_json, out, width
    from fleet.render.health import facts
    from fleet.render.health import health as lines
    from fleet.render.standing import phases
    from fleet.spec.nodesets import resolve

    with app.open_fleet(inventory) as fleet:
        declared, observed, _, found = standing(fleet)
        chosen = resolve(from_input(nodes), declared, lambda: phases(found))
    if json:
        as_json("health", facts(observed, found, chosen))
    else:
        zone = datetime.now().astimezone().tzinfo
        out(lines(observed, found, chosen, width=width(), zone=zone))
