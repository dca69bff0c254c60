"""Look at the fleet through all sources side by side and join what they saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import datetime

from fleet.model.health import Gap
from fleet.model.ids import NodeId, OrderId
from fleet.model.observation import NodeSeen, Observed, Power, Records
from fleet.model.topology import Declared, DeclaredNode
from fleet.ports import Clock, Observe, Schedule

_JOINED = {"signals", "gaps", "cordons", "work", "holders"}
_FIELDS = tuple(field.name for field in fields(NodeSeen) if field.name not in {"id", *_JOINED})
_NOTHING = NodeSeen(NodeId(""))


def observe(
    declared: Declared,
    records: Records,
    sources: Sequence[Observe | Schedule],
    clock: Clock,
    in_flight: frozenset[OrderId],
    since_last: float,
) -> Observed:
    """What all sources saw of the nodes that are not retired. A source that breaks down as a whole is a gap."""
    at = clock.now()
    nodes = [node for node in declared.nodes.values() if not _retired(records, node)]
    gaps: list[Gap] = []
    looks: list[Mapping[NodeId, NodeSeen]] = []
    if len(sources) == 1:
        looks.append(sources[0].look(nodes))
    else:
        with ThreadPoolExecutor(max_workers=max(len(sources), 1), thread_name_prefix="observe") as pool:
            for look in pool.map(lambda source: source.look(nodes), sources):
                looks.append(look)
    seen = {node.id: join(node.id, [look[node.id] for look in looks if node.id in look]) for node in nodes}
    return Observed(at, seen, records, _clocks(at), tuple(gaps), in_flight, since_last)


def _retired(records: Records, node: DeclaredNode) -> bool:
    enrolled = records.enrolled.get(node.id)
    return enrolled is not None and enrolled.retired


def _clocks(_at: datetime) -> tuple[datetime, ...]:
    """Clocks of scheduler, nodes and BMCs, where sources report them."""
    return ()


def join(node: NodeId, looks: Sequence[NodeSeen]) -> NodeSeen:
    """One node as several sources saw it: the first that saw a thing says it; lists are put together."""
    if len(looks) == 1:
        return looks[0]
    found = NodeSeen(node)
    values: dict[str, object] = {}
    for look in looks:
        for name in _FIELDS:
            value = getattr(look, name)
            if name not in values and value != getattr(_NOTHING, name) and value is not Power.UNKNOWN:
                values[name] = value
        for name in _JOINED:
            values[name] = (*values.get(name, ()), *getattr(look, name))  # type: ignore[misc]  # tuples of one kind
    return replace(found, **values)  # type: ignore[arg-type]  # names and values come from NodeSeen itself
