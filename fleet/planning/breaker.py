"""The breaker: stops new orders when too many nodes fall ill at once, and clears by itself when that has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    cleared: datetime | None = None  # while it ramps up again


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
    """Played through the findings in their order: trips at the limit, clears when none has come for `quiet`."""
    if policy is None:
        return Breaker(tripped=False)
    limit = max(policy.share.as_floor(members), 1)
    tripped, names, cleared, last = False, set[NodeId](), None, None
    ordered = sorted(times)
    for when, _ in ordered:
        if tripped and last is not None and when - last > policy.quiet:
            tripped, cleared = False, last + policy.quiet
        recent = {name for then, name in ordered if when - policy.window <= then <= when}
        if len(recent) >= limit:
            tripped, names = True, recent
        last = when
    if tripped and last is not None and at - last > policy.quiet:
        tripped, cleared = False, last + policy.quiet
    if tripped:
        text = f"{len(names)} nodes fell ill within {policy.window}; the limit is {limit}"
        return Breaker(True, tuple(sorted(names)), text)
    ramping = cleared is not None and at - cleared <= policy.quiet and policy.ramp is not None
    return Breaker(False, cleared=cleared if ramping else None)


def ramp_left(policy: BreakerPolicy, breaker: Breaker, opened: Sequence[datetime], at: datetime) -> int | None:
    """How many new orders may begin now, after a breaker has cleared; None where nothing limits them."""
    if breaker.cleared is None or policy.ramp is None:
        return None
    since = max(breaker.cleared, at - policy.ramp_per) if policy.ramp_per is not None else breaker.cleared
    return policy.ramp - sum(when > since for when in opened)
