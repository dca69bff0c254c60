"""`fleet facts [NODES]`: which nodes carry what."""

from __future__ import annotations

from typing import Annotated

import typer

from fleet.cli.options import Inventory, Json, SomeNodes, from_input


def facts(
    nodes: SomeNodes = None,
    by_node: Annotated[bool, typer.Option("--by-node", help="A row per node instead of per version.")] = False,
    json: Json = False,
    inventory: Inventory = None,
) -> None:
    """Which nodes carry which versions, as the nodes show them now.

    \b
    fleet facts
    fleet facts @pool:train --by-node
    """
    from fleet import app
    from fleet.cli.chosen import choose
    from fleet.cli.say import as_json, out, width
    from fleet.render.text import table
    from fleet.spec.nodesets import fold

    with app.open_fleet(inventory) as fleet:
        chosen = choose(fleet, from_input(nodes))
        _, observed = fleet.controller().look()
    seen = {node: observed.nodes[node] for node in chosen if node in observed.nodes}
    if json:
        found = {
            node: {
                "serial": each.serial,
                "kernel": each.kernel,
                "accelerators": each.accelerators,
                "shown": dict(each.shown),
                "packages": dict(each.packages),
                "gaps": [f"{gap.what}: {gap.why}" for gap in each.gaps],
            }
            for node, each in seen.items()
        }
        as_json("facts", {"nodes": found})
        return
    rows: dict[tuple[str, str], list[str]] = {}
    for node, each in seen.items():
        parts = {"kernel": each.kernel, **each.shown, **each.packages}
        parts["accelerators"] = str(each.accelerators) if each.accelerators is not None else ""
        for part, version in parts.items():
            rows.setdefault((part, version or "not seen"), []).append(node)
    if by_node:
        listed = [(node, part, version) for (part, version), names in rows.items() for node in names]
        out(table(("node", "what", "version"), sorted(listed), width(), indent=0))
    else:
        found_rows = [(part, version, fold(names)) for (part, version), names in sorted(rows.items())]
        out(table(("what", "version", "nodes"), found_rows, width(), indent=0))
