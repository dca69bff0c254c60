"""`fleet:index:Site`: the place, and the names of all nodes that git declares for it.

The names are here and not with the pools, for a node may move to another pool or stack shard; it may not vanish. The
engine never asks a provider about deletes in a preview, so this Check is where a vanished node is named beforehand,
with the commands that make it legal. Node's own Delete is the last guard.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fleet.model.ids import NodeId
from fleet.provider.declaration import Declaration
from fleet.provider.properties import Plain, Properties
from fleet.provider.resource import Flaw, Ports, way_out

TYPE = "fleet:index:Site"


def site(ports: Callable[[], Ports]) -> Declaration:
    """The resource. The ledger is asked only where a node is gone."""

    def vanished(olds: Properties, news: Properties) -> Sequence[Flaw]:
        found = []
        for name in sorted(_names(olds) - _names(news)):
            enrolment = ports().enrol.enrolment(NodeId(name))
            if enrolment is not None and not (enrolment.retired and enrolment.certificate):
                found.append(Flaw("nodes", f"{name} is gone from the inventory and not retired\nnext: {way_out(name)}"))
        return found

    return Declaration(
        key="site",
        shape={"site": str, "region": str, "nodes": list},
        optional=frozenset({"region", "nodes"}),
        further=vanished,
    )


def _names(properties: Properties) -> frozenset[str]:
    nodes: Plain = properties.get("nodes")
    return frozenset(str(name) for name in nodes) if isinstance(nodes, list) else frozenset()
