"""`fleet cordon` and `fleet uncordon`: close and open nodes in a person's name."""

from __future__ import annotations

import typer

from fleet.cli.options import As, Inventory, Json, Nodes, Reason, from_input, person
from fleet.cli.told import Told, tell


def cordon(nodes: Nodes, reason: Reason = "", inventory: Inventory = None, by: As = None, json: Json = False) -> None:
    """Close nodes to new work, in your name. What runs there ends; fleet leaves the nodes alone.

    \b
    fleet cordon n03 --reason "measuring the fans"
    fleet cordon @rack:r1 --reason "new cables"
    """
    from fleet import app
    from fleet.cli.chosen import choose

    who = person(by)
    with app.open_fleet(inventory) as fleet:
        told: Told = {}
        for node in choose(fleet, from_input(nodes)):
            told[node] = fleet.schedule.cordon_as(node, who, reason)
            fleet.store.note(node, who, "cordoned", reason, fleet.clock.now())
        raise typer.Exit(tell("cordon", told, f"closed in the name of {who}", json=json))


def uncordon(nodes: Nodes, reason: Reason = "", inventory: Inventory = None, by: As = None, json: Json = False) -> None:
    """Open nodes that were closed in your name. Closed for another reason, they stay closed.

    \b
    fleet uncordon n03
    fleet uncordon n03 --as bob      what bob closed, once bob agrees
    """
    from fleet import app
    from fleet.cli.chosen import choose

    who = person(by)
    with app.open_fleet(inventory) as fleet:
        told: Told = {}
        for node in choose(fleet, from_input(nodes)):
            told[node] = fleet.schedule.uncordon_as(node, who)
            fleet.store.note(node, who, "uncordoned", reason, fleet.clock.now())
        raise typer.Exit(tell("uncordon", told, f"opened by {who}", json=json))
