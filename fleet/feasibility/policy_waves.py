"""Canaries, waves and the breaker against the nodes there are."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from fleet.feasibility.boards import near
from fleet.feasibility.problem import Level, Problem
from fleet.feasibility.scope import Scope, named
from fleet.model.topology import Declared, Disposition


def waves(declared: Declared, scope: Scope) -> Iterator[Problem]:
    """Canaries that are too many or elsewhere, waves larger than what may be out, and the breaker."""
    yield from _canary_size(scope)
    yield from _canary_names(declared, scope)
    yield from _wave_sizes(scope)
    yield from _breaker(scope)


def _canary_size(scope: Scope) -> Iterator[Problem]:
    policy, size = scope.policy, len(scope.nodes)
    if policy.canary_nodes or policy.canary <= size:
        return
    what = f"pool {scope.pool.id} has {size} nodes, and its policy wants {policy.canary} canaries"
    rule, where = "canaries are the first nodes of a pool, before all others", scope.place("canary", "nodes")
    yield Problem("policy-canary-large", Level.ERROR, where, what, f"write `canary: {max(size // 10, 1)}`", rule)


def _canary_names(declared: Declared, scope: Scope) -> Iterator[Problem]:
    """Names of canaries that are no nodes, or take no part in a roll of a pool under this policy."""
    where, rule = scope.place("canary", "nodes"), "a canary is a node of the pool that is rolled"
    pools = {pool.id for pool in declared.pools.values() if pool.policy.canary_nodes == scope.policy.canary_nodes}
    hints = 3 if len(declared.nodes) > 1000 else 20  # to look for what is near takes a while
    for name in scope.policy.canary_nodes:
        node = declared.nodes.get(name)
        if node is None:
            what, fix, hints = (
                f"canary {name} is no node",
                near(name, declared.nodes) if hints else "",
                max(hints - 1, 0),
            )
        elif node.pool not in pools:
            what = f"canary {name} is in pool {node.pool}, which has another policy"
            fix = f"name a node of {scope.pool.id}"
        elif node.disposition is not Disposition.IN_SERVICE:
            what, fix = f"canary {name} is {node.disposition}, and takes no part in a roll", "name one that serves"
        else:
            continue
        yield Problem("policy-canary-stranger", Level.ERROR, where, what, fix or "name a node of the pool", rule)


def _wave_sizes(scope: Scope) -> Iterator[Problem]:
    most = scope.most_out()
    large = [size for size in scope.policy.wave_sizes if size > most]
    if not large or most < 1:
        return
    turns = -(-max(large) // most)
    pool = scope.pool.id
    what = f"a wave of {named(large)} nodes of pool {pool}, and {most} may be out at once: it takes {turns} turns"
    fix = f"write sizes of {most} or less, or let {max(large)} be out at once"
    counted = f"{max(large)} / {most} = {turns} turns"
    rule, where = "a wave goes out only as far as budgets and floors allow", scope.place("waves", "sizes")
    yield Problem("policy-wave-over-budget", Level.WARNING, where, what, fix, rule, counted)


def _breaker(scope: Scope) -> Iterator[Problem]:
    breaker, size = scope.policy.breaker, len(scope.nodes)
    if breaker is None:
        return
    limit, where = max(breaker.share.as_floor(size), 1), scope.place("breaker", "share")
    rule = "a breaker trips when its share of the pool, rounded up, falls ill within its window"
    counted = f"{size} x {breaker.share} = {size * (breaker.share.percent or 0) / 100:g}, rounded up: {limit}"
    if limit > size:
        what = f"the breaker of pool {scope.pool.id} trips at {limit} nodes, and the pool has {size}: it never trips"
        yield Problem("policy-breaker-never", Level.WARNING, where, what, f"write {max(size // 2, 1)} or less", rule)
    elif limit == 1 and size > 1 and breaker.share.percent is not None:
        what = f"the breaker of pool {scope.pool.id} trips on a single node: {breaker.share} of {size} nodes is 1"
        fix = f"write more than {ceil(1000 / size) / 10:g}%, or `nodes: 1` where that is meant"
        yield Problem("policy-breaker-one", Level.WARNING, where, what, fix, rule, counted)
