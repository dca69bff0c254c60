"""`fleet why NODES or POOL`: where it stands, what it waits for, and the trail that led there."""

from __future__ import annotations

from typing import Annotated

import typer

from fleet.cli.options import Inventory, Json, from_input


def why(
    what: Annotated[list[str], typer.Argument(metavar="NODES|POOL", help="A node set, or the name of a pool.")],
    entries: Annotated[int, typer.Option("--entries", "-n", help="How many entries of the trail per node.")] = 30,
    json: Json = False,
    inventory: Inventory = None,
) -> None:
    """Where nodes stand, what they wait for now, and how it came to that.

    \b
    fleet why n03
    fleet why train
    fleet why @phase:awaiting_hands
    """
    from datetime import datetime

    from fleet import app
    from fleet.cli.chosen import standing
    from fleet.cli.say import as_json, out, width
    from fleet.render.standing import phases
    from fleet.render.why import facts, node_lines, pool_lines
    from fleet.spec.nodesets import resolve

    zone = datetime.now().astimezone().tzinfo
    texts = from_input(what)
    with app.open_fleet(inventory) as fleet:
        declared, observed, _, found = standing(fleet)
        pools = [text for text in texts if text in declared.pools]
        chosen = (
            resolve([t for t in texts if t not in pools], declared, lambda: phases(found)) if pools != texts else ()
        )
        trails = {node: fleet.store.trail(node=node, limit=entries) for node in chosen}
        if json:
            as_json("why", facts(declared, observed, found, chosen, pools, trails))
            return
        for number, pool in enumerate(pools):
            out(pool_lines(observed, found, pool, width=width(), blank=number > 0))
        for number, node in enumerate(chosen):
            blank = bool(pools) or number > 0
            out(node_lines(declared, observed, found[node], trails[node], width=width(), zone=zone, blank=blank))
