"""The breaker: stops new orders when too many nodes fall ill at once, and clears by itself when that has ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from fleet.model.health import Severity
from fleet.model.ids import NodeId, PoolId
from fleet.model.observation import Observed
from fleet.model.policy import BreakerPolicy
from fleet.model.topology import Declared


@dataclass(frozen=True, slots=True)
class Breaker:
    """One pool's breaker in this pass. `names` are the nodes that tripped it; `ramp` limits new orders after it."""

    tripped: bool
    names: tuple[NodeId, ...] = ()
    text: str = ""


def breakers(declared: Declared, observed: Observed) -> Mapping[PoolId, Breaker]:
    """The state of every pool's breaker, from the times at which its nodes' cases opened."""
    recent: dict[PoolId, list[tuple[datetime, NodeId]]] = {}
    for case in observed.records.cases.values():
        node = declared.nodes.get(case.node)
        if node is not None and case.severity is not Severity.WATCH:
            recent.setdefault(node.pool, []).append((case.opened, case.node))
    for at, name in observed.records.quarantined_at:
        node = declared.nodes.get(name)
        if node is not None:
            recent.setdefault(node.pool, []).append((at, name))
    return {
        pool.id: _judge(pool.policy.breaker, recent.get(pool.id, []), _members(declared, pool.id), observed.at)
        for pool in declared.pools.values()
        if pool.policy.breaker is not None
    }


def _members(declared: Declared, pool: PoolId) -> int:
    return sum(node.pool == pool for node in declared.nodes.values())


def _judge(policy: BreakerPolicy | None, times: list[tuple[datetime, NodeId]], members: int, at: datetime) -> Breaker:
    """Tripped while, at any moment within `quiet` before now, `share` of the pool had fallen ill within `window`."""
    if policy is None:
        return Breaker(tripped=False)
    limit = max(policy.share.as_budget(members), 1)
    for last, _ in times:
        if at - last > policy.quiet:
            continue
        names = {name for when, name in times if last - policy.window <= when <= last}
        if len(names) >= limit:
            text = f"{len(names)} nodes fell ill within {policy.window}; the limit is {limit}"
            return Breaker(True, tuple(sorted(names)), text)
    return Breaker(tripped=False)
