"""Rack units: no two machines in one slot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from fleet.feasibility.problem import Level, Problem
from fleet.model.topology import Declared, DeclaredNode


def space(declared: Declared) -> Iterator[Problem]:
    """Slots that are used twice."""
    by_slot: dict[tuple[str, int], list[DeclaredNode]] = defaultdict(list)
    for node in declared.nodes.values():
        if node.rack and node.slot is not None:
            by_slot[node.rack, node.slot].append(node)
    for (rack, slot), nodes in by_slot.items():
        if len(nodes) > 1:
            names = ", ".join(node.id for node in nodes)
            what = f"slot {slot} of rack {rack} holds {len(nodes)} nodes: {names}"
            yield Problem(
                "space-slot-twice", Level.ERROR, nodes[1].place, what, "give each node its own slot", "geometry"
            )
