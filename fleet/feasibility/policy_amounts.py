"""Budgets, floors, reserves and units: rules under which no node, or no whole unit, could ever be taken."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from fleet.feasibility.problem import Level, Problem
from fleet.feasibility.scope import Scope, named
from fleet.model.topology import Declared, DeclaredNode, Domain, DomainKind

_RULE = "budget rules: a budget rounds down, a floor up, of the declared nodes that are not retired"


def amounts(declared: Declared, scope: Scope) -> Iterator[Problem]:
    """Amounts of nodes that contradict each other, or the nodes there are."""
    dead: set[Domain] = set()
    for domains in _alike(scope):
        for problem in _never(scope, domains):
            dead.update(domains)
            yield problem
    yield from _reserve(scope, dead)
    if not dead:
        yield from _unused(scope)
        yield from _units(declared, scope)


def _alike(scope: Scope) -> list[list[Domain]]:
    """Domains of one kind and size: what is wrong with one of them is wrong with all."""
    found: dict[tuple[str, int], list[Domain]] = {}
    for domain in sorted(scope.inside, key=str):
        found.setdefault((domain.kind, scope.sizes[domain]), []).append(domain)
    return list(found.values())


def _never(scope: Scope, domains: list[Domain]) -> Iterator[Problem]:
    policy, first, size = scope.policy, domains[0], scope.sizes[domains[0]]
    budget, floor = policy.budget.get(first.kind), policy.floor.get(first.kind)
    names = named(domains)
    if budget is not None and (scope.budget(first) or 0) < 1:
        what = f"the budget of {names} is {budget} of {size} nodes, which is 0: nothing could ever be upgraded"
        fix = "raise it to 1"
        if budget.percent:
            fix = f"raise it to {ceil(1000 / size) / 10:g}% or more, or set at_least_one: true"
        counted = f"{size} x {budget} = {size * budget.percent / 100:g}, rounded down: 0" if budget.percent else ""
        where = scope.place("budget", first.kind, scope.pool.id)
        yield Problem("policy-budget-never", Level.ERROR, where, what, fix, _RULE, counted)
    if floor is not None and (scope.spare(first) or 0) < 1:
        must = floor.as_floor(size)
        many = f"all {size}" if must == size else f"{must}, more than there are"
        what = f"the floor of {names} is {floor} of {size} nodes, which is {many}: no node could ever be taken"
        counted = f"{size} x {floor} = {size * floor.percent / 100:g}, rounded up: {must}" if floor.percent else ""
        where = scope.place("floor", first.kind, scope.pool.id)
        yield Problem("policy-floor-all", Level.ERROR, where, what, f"lower it below {size}", _RULE, counted)


def _reserve(scope: Scope, dead: set[Domain]) -> Iterator[Problem]:
    """Slots kept for repairs that leave none for planned work."""
    pool = Domain(DomainKind.POOL, scope.pool.id)
    slots, reserve = scope.slots(pool), scope.policy.reserve_for_repair
    if not reserve or slots is None or slots > reserve or pool in dead:
        return
    what = f"pool {scope.pool.id} keeps {reserve} of its slots for repairs, and has {slots}: nothing is ever upgraded"
    left = max(scope.sizes[pool] - reserve - 1, 0)
    fix = f"let {reserve + 1} nodes be out: budget {reserve + 1} or more, floor {left} or less; or keep "
    fix += f"{slots - 1} at most" if slots > 1 else "none"
    counted = f"{_limits(scope, pool)} - {reserve} for repairs = {slots - reserve}"
    where = scope.place("reserve_for_repair")
    yield Problem("policy-reserve-all", Level.ERROR, where, what, fix, "the reserve is a part of the budget", counted)


def _unused(scope: Scope) -> Iterator[Problem]:
    """A budget that the floor of the same domain never lets be used up."""
    for domains in _alike(scope):
        first = domains[0]
        budget, spare, size = scope.budget(first), scope.spare(first), scope.sizes[first]
        if budget is None or spare is None or spare >= min(budget, size):
            continue
        what = f"the floor of {named(domains)} leaves {spare} of {size} nodes, its budget is {budget}"
        fix = f"say a budget of {spare}, or lower the floor to {max(size - budget, 0)}"
        where = scope.place("floor", first.kind, scope.pool.id)
        yield Problem("policy-budget-unused", Level.WARNING, where, what, fix, _RULE, _limits(scope, first))


def _units(declared: Declared, scope: Scope) -> Iterator[Problem]:
    """Releases that are applied to a whole domain at once, where so many nodes may never be out together."""
    units: dict[tuple[str, Domain], list[DeclaredNode]] = {}
    for node in scope.nodes:
        release = declared.releases.get(declared.target(node))
        if release is not None and release.unit:
            for domain in node.domains:
                if domain.kind == release.unit:
                    units.setdefault((release.id, domain), []).append(node)
    blocked: dict[tuple[str, int, str], list[tuple[Domain, Problem]]] = {}
    for (release_id, unit), nodes in units.items():
        wrong = _too_much(scope, release_id, unit, nodes)
        if wrong is not None:
            blocked.setdefault((release_id, len(nodes), wrong.sum), []).append((unit, wrong))
    for found in blocked.values():
        unit, first = found[0]
        more = f" (so do {named(each for each, _ in found[1:])})" if found[1:] else ""
        what = first.what + more
        yield Problem(first.code, first.level, first.place, what, first.instead, first.source, first.sum)


def _too_much(scope: Scope, release: str, unit: Domain, nodes: list[DeclaredNode]) -> Problem | None:
    """Why a unit can never be taken as a whole; None where it can."""
    counts: dict[Domain, int] = {}
    for node in nodes:
        for domain in node.domains:
            counts[domain] = counts.get(domain, 0) + 1
    code, level, rule = "policy-unit-never", Level.ERROR, "a unit is worked on as a whole: its nodes are out together"
    begins = f"{release} is applied to a whole {unit.kind}: {unit}"
    for domain, count in counts.items():
        slots = scope.slots(domain)
        if slots is not None and count > slots:
            what = f"{begins} takes {count} nodes of {domain}, and {slots} may be out"
            left = scope.sizes[domain] - count
            fix = f"let {count} nodes of {domain} be out: budget {count} or more, floor {left} or less"
            counted = f"{count} nodes at once > {_limits(scope, domain)}"
            where = scope.place("floor" if slots == scope.spare(domain) else "budget", domain.kind)
            return Problem(code, level, where, what, fix, rule, counted)
    for kind, most in scope.policy.domains_out.items():
        touched = [domain for domain in counts if domain.kind == kind]
        if len(touched) > most:
            what = f"{begins} lies in {named(touched)}, and {most} may have nodes out"
            fix = f"write domains_out: {{{kind}: {len(touched)}}}"
            counted = f"{len(touched)} of kind {kind} at once > {most}"
            where = scope.place("budget", "domains_out", kind)
            return Problem(code, level, where, what, fix, rule, counted)
    return None


def _limits(scope: Scope, domain: Domain) -> str:
    """How the slots of a domain come about."""
    parts, size = [], scope.sizes[domain]
    budget, floor = scope.policy.budget.get(domain.kind), scope.policy.floor.get(domain.kind)
    if budget is not None:
        of_all = f" of {size} = {scope.budget(domain)}" if budget.percent is not None else ""
        parts.append(f"budget {budget}{of_all}")
    if floor is not None:
        parts.append(f"{size} - floor {floor.as_floor(size)} = {scope.spare(domain)}")
    return f"min({', '.join(parts)}) = {scope.slots(domain)}" if len(parts) > 1 else "".join(parts)
