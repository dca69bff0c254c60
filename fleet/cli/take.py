"""`fleet take` and `fleet give`: hands. A node in somebody's hands is closed in their name until they give it back."""

from __future__ import annotations

from typing import Annotated

import typer

from fleet.cli.options import As, Inventory, Json, Nodes, from_input, person
from fleet.cli.told import Told, tell
from fleet.model.observation import Hold
from fleet.model.order import Done


def take(
    nodes: Nodes,
    purpose: Annotated[str, typer.Option("--for", metavar="TEXT", help="What you will do.")],
    inventory: Inventory = None,
    by: As = None,
    json: Json = False,
) -> None:
    """Take nodes into your hands: no new work comes, and fleet leaves them alone until you give them back.

    \b
    fleet take n05 --for "swap the riser"
    """
    from fleet import app
    from fleet.cli.chosen import choose

    who = person(by)
    with app.open_fleet(inventory) as fleet:
        chosen, now = choose(fleet, from_input(nodes)), fleet.clock.now()
        fleet.store.hold(Hold("hands", chosen, who, purpose, now))
        told: Told = {node: fleet.schedule.cordon_as(node, who, purpose) for node in chosen}
        raise typer.Exit(tell("take", told, f"in the hands of {who}; give back with: fleet give", json=json))


def give(
    nodes: Nodes,
    did: Annotated[str, typer.Option("--did", metavar="TEXT", help="What you did; it is kept in the trail.")],
    inventory: Inventory = None,
    by: As = None,
    json: Json = False,
) -> None:
    """Give nodes back. They serve again once they verify; one that doesn't stays closed (exit 3).

    \b
    fleet give n05 --did "swapped the riser"
    """
    from fleet import app
    from fleet.cli.chosen import choose
    from fleet.cli.verify import prove

    who = person(by)
    with app.open_fleet(inventory) as fleet:
        chosen, now = choose(fleet, from_input(nodes)), fleet.clock.now()
        told: Told = {}
        idle = []
        for node in chosen:
            if fleet.store.give_back(node, who, did, now):
                told[node] = fleet.schedule.uncordon_as(node, who)
                if isinstance(told[node], Done):
                    told[node] = Done("its order goes on: verify, then service (fleet run, or the next upgrade)")
            else:
                idle.append(node)
        told |= prove(fleet, idle)
        for node in idle:
            if isinstance(told[node], Done):
                told[node] = fleet.schedule.uncordon_as(node, who)
        fine = [node for node in chosen if isinstance(told[node], Done)]
        if fine:
            fleet.store.lift("hands", fine, who, did, now)
        raise typer.Exit(tell("give", told, "verified, and open again", json=json, bad_code=3))
