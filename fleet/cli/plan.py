"""`fleet plan [NODES]`: what a pass would do now, and what waits and why. Changes nothing."""

from __future__ import annotations

from fleet.cli.options import Inventory, Json, SomeNodes, from_input


def plan(nodes: SomeNodes = None, json: Json = False, inventory: Inventory = None) -> None:
    """What would be done now, and what is held and why. Changes nothing.

    \b
    fleet plan
    fleet plan @pool:train --json
    """
    from fleet import app
    from fleet.cli.chosen import choose
    from fleet.cli.say import as_json, out, width
    from fleet.render.plan import facts
    from fleet.render.plan import plan as lines

    with app.open_fleet(inventory) as fleet:
        chosen = frozenset(choose(fleet, from_input(nodes)))
        declared, observed, decided = fleet.controller().decide()
    if json:
        as_json("plan", facts(decided, chosen))
    else:
        out(lines(declared, observed, decided, chosen, width=width()))
