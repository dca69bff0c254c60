"""Budgets and floors, judged on the truth of the world and independently of the planner's own count."""

from __future__ import annotations

from collections.abc import Iterable

from fleet.model.ids import NodeId, Purpose, Verb
from fleet.model.policy import Policy
from fleet.model.topology import Declared, DeclaredNode, Disposition, Domain
from fleet.sim.world import DISRUPTS, Begun, World

TAKES = DISRUPTS | {Verb.CORDON}


def out_of(world: World, domain: Domain) -> set[NodeId]:
    """The nodes of a domain that are out of service in truth."""
    return {
        node.id
        for node in world.declared.nodes.values()
        if domain in node.domains
        and node.disposition is not Disposition.RETIRED
        and (node.id not in world.machines or not world.machines[node.id].in_service)
    }


def members(declared: Declared, domain: Domain) -> int:
    """The declared nodes of a domain that are not retired."""
    return sum(
        domain in node.domains and node.disposition is not Disposition.RETIRED for node in declared.nodes.values()
    )


def taken(world: World, since: int) -> list[Begun]:
    """The steps from number `since` on that took a node which was in service. An emergency may; so may a node that
    shows a fatal fault, since nobody can tell a false one."""
    return [
        begun
        for begun in world.begun[since:]
        if begun.was_in
        and begun.verb in TAKES
        and not begun.evident
        and begun.purpose is not Purpose.SHED
        and _still_out(world, begun.node)
    ]


def _still_out(world: World, node: NodeId) -> bool:
    return node in world.machines and not world.machines[node].in_service


def overdrawn(world: World, begun: Iterable[Begun]) -> list[str]:
    """What these takings overdrew: one line for each domain that is over its budget or under its floor by them."""
    found: dict[str, None] = {}
    for step in begun:
        node = world.declared.nodes.get(step.node)
        if node is not None:
            policy = world.declared.pools[node.pool].policy
            found.update(dict.fromkeys(_over(world, node, policy)))
    return list(found)


def _over(world: World, node: DeclaredNode, policy: Policy) -> list[str]:
    found = []
    for domain in node.domains:
        budget, floor = policy.budget.get(domain.kind), policy.floor.get(domain.kind)
        most_domains = policy.domains_out.get(domain.kind)
        if budget is None and floor is None and most_domains is None:
            continue
        count, out = members(world.declared, domain), out_of(world, domain)
        if budget is not None:
            most = budget.as_budget(count, at_least_one=policy.at_least_one)
            if len(out) > most:
                found.append(
                    f"{node.id} taken with {len(out)} of {domain} out ({', '.join(sorted(out))}), budget {most}"
                )
        if floor is not None and count - len(out) < floor.as_floor(count):
            found.append(f"{node.id} taken with {count - len(out)} of {domain} in, floor {floor.as_floor(count)}")
        if most_domains is not None:
            dark = {
                other
                for each in world.declared.nodes.values()
                for other in each.domains
                if other.kind is domain.kind and out_of(world, other)
            }
            if len(dark) > most_domains:
                found.append(f"{node.id} taken with {len(dark)} {domain.kind}s out, at most {most_domains}")
    return found
