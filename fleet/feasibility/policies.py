"""Policies that can never be met, and ladders that end nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.feasibility.problem import Level, Problem
from fleet.model.ids import Verb
from fleet.model.policy import Policy
from fleet.model.topology import Declared, Disposition, Domain, Pool

_BUDGETS = "budget rules: a budget rounds down, a floor up, of the declared nodes that are not retired"


def policies(declared: Declared) -> Iterator[Problem]:
    """Budgets and floors under which no node could ever be taken; rungs that a release forbids."""
    members: dict[Domain, int] = {}
    for node in declared.nodes.values():
        if node.disposition is not Disposition.RETIRED:
            for domain in node.domains:
                members[domain] = members.get(domain, 0) + 1
    for pool in declared.pools.values():
        domains = {d for n in declared.nodes.values() if n.pool == pool.id for d in n.domains if d in members}
        for domain in sorted(domains, key=str):
            yield from _amounts(pool, domain, members[domain])
        yield from _ladder(declared, pool)


def _amounts(pool: Pool, domain: Domain, size: int) -> Iterator[Problem]:
    policy = pool.policy
    budget, floor = policy.budget.get(domain.kind), policy.floor.get(domain.kind)
    if budget is not None and budget.as_budget(size, at_least_one=policy.at_least_one) < 1:
        what = f"the budget of {domain} is {budget} of {size} nodes, which is 0: nothing could ever be upgraded"
        fix = "raise it, or set at_least_one: true"
        yield Problem("policy-budget-never", Level.ERROR, pool.place, what, fix, _BUDGETS)
    if floor is not None and floor.as_floor(size) >= size:
        what = f"the floor of {domain} is {floor} of {size} nodes, which is all {size}: no node could ever be taken"
        yield Problem("policy-floor-all", Level.ERROR, pool.place, what, f"lower it below {size}", _BUDGETS)


def _ladder(declared: Declared, pool: Pool) -> Iterator[Problem]:
    policy: Policy = pool.policy
    release = declared.releases.get(pool.release)
    forbidden = [rung for rung in policy.ladder if release is not None and rung in release.forbids]
    if forbidden:
        what = f"the ladder of pool {pool.id} has {', '.join(forbidden)}, which {pool.release} forbids"
        yield Problem(
            "policy-rung-forbidden", Level.WARNING, pool.place, what, "those rungs are passed over", "release"
        )
    if policy.ladder and policy.ladder[-1] is not Verb.RMA:
        what = f"the ladder of pool {pool.id} ends in {policy.ladder[-1]} and not with a person"
        yield Problem("policy-ladder-end", Level.WARNING, pool.place, what, "end it with rma", "design of the ladder")
