"""The one count of capacity: who is out of service, in each domain, whoever took it out.

Budget rules, stated once: a percentage is of the declared nodes that are not retired; of a budget it rounds down, of a
floor up; every unavailable node counts once; a node already out costs nothing more. What could not be seen counts as
out: unknown is never taken for available. Cost: one pass over nodes and their domains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fleet.model.health import Case, Severity
from fleet.model.ids import Because, NodeId, Verb
from fleet.model.observation import Enrolment, NodeSeen, Observed, Power
from fleet.model.policy import Policy
from fleet.model.topology import Declared, DeclaredNode, Disposition, Domain, DomainKind


def why_out(node: DeclaredNode, seen: NodeSeen | None, enrolled: Enrolment | None, case: Case | None) -> str:
    """Why a node is out of service, in a few words; empty where it serves."""
    if seen is None:
        return "not seen"
    if seen.cordons:
        return "cordoned by " + ", ".join(cordon.owner for cordon in seen.cordons)
    if seen.power is Power.OFF:
        return "off"
    if seen.reachable is False:
        return "unreachable"
    if seen.scheduler_up is not True:
        return "down" if seen.scheduler_up is False else "the scheduler could not be asked"
    if case is not None and case.open and case.severity is Severity.FATAL:
        return "broken: " + ", ".join(case.causes)
    if enrolled is None or (not enrolled.served and node.disposition is Disposition.PARKED):
        return "not enrolled" if enrolled is None else "parked"
    return ""


@dataclass(frozen=True, slots=True)
class Full:
    """A domain that allows no further node out: which one, why, and who eats it."""

    domain: Domain
    reason: Because
    names: tuple[NodeId, ...]
    text: str


@dataclass(slots=True)
class Capacity:
    """Nodes out by domain in this pass. `take` adds one as the plan is drawn up; nothing else changes it."""

    declared: Declared
    out: dict[NodeId, str] = field(default_factory=dict)
    members: dict[Domain, int] = field(default_factory=dict)
    out_in: dict[Domain, list[NodeId]] = field(default_factory=dict)

    def take(self, node: DeclaredNode, why: str) -> None:
        """Count a node as out from now on."""
        if node.id in self.out:
            return
        self.out[node.id] = why
        for domain in node.domains:
            self.out_in.setdefault(domain, []).append(node.id)

    def slots(self, domain: Domain, policy: Policy) -> int | None:
        """How many more nodes of a domain may go out under a policy; None where nothing limits it."""
        members = self.members.get(domain, 0)
        out = len(self.out_in.get(domain, ()))
        limits = []
        budget = policy.budget.get(domain.kind)
        if budget is not None:
            limits.append(budget.as_budget(members, at_least_one=policy.at_least_one) - out)
        floor = policy.floor.get(domain.kind)
        if floor is not None:
            limits.append(members - floor.as_floor(members) - out)
        return min(limits) if limits else None

    def blocks(self, node: DeclaredNode, policy: Policy) -> Full | None:
        """The first domain that forbids taking a node which is in service; None where all of them allow it."""
        if node.id in self.out:
            return None
        for domain in node.domains:
            slots = self.slots(domain, policy)
            if slots is not None and slots <= 0:
                return self._full(domain, policy)
            most = policy.domains_out.get(domain.kind)
            if most is not None and not self.out_in.get(domain):
                others = tuple(d for d, ids in self.out_in.items() if ids and d.kind is domain.kind)
                if len(others) >= most:
                    names = tuple(n for d in others for n in self.out_in[d])
                    return Full(domain, Because.BUDGET_FULL, names, f"{len(others)} {domain.kind}s have nodes out")
        return None

    def _full(self, domain: Domain, policy: Policy) -> Full:
        names = tuple(self.out_in.get(domain, ()))
        members = self.members.get(domain, 0)
        budget, floor = policy.budget.get(domain.kind), policy.floor.get(domain.kind)
        if budget is not None and len(names) >= budget.as_budget(members, at_least_one=policy.at_least_one):
            most = budget.as_budget(members, at_least_one=policy.at_least_one)
            return Full(domain, Because.BUDGET_FULL, names, f"budget of {domain}: {len(names)} of {most} out")
        fewest = floor.as_floor(members) if floor is not None else 0
        text = f"floor of {domain}: {members - len(names)} in, {fewest} must stay"
        return Full(domain, Because.FLOOR, names, text)


def survey(declared: Declared, observed: Observed) -> Capacity:
    """Count who is out now. Retired nodes are members of nothing; parked ones count where they are out."""
    found = Capacity(declared)
    enrolled, cases = observed.records.enrolled, observed.records.cases
    members, seen_nodes = found.members, observed.nodes
    for node in declared.nodes.values():
        record = enrolled.get(node.id)
        if record is not None and record.retired:
            continue
        for domain in node.domains:
            members[domain] = members.get(domain, 0) + 1
        why = why_out(node, seen_nodes.get(node.id), record, cases.get(node.id))
        if why:
            found.take(node, why)
    for order in observed.records.orders.values():
        if order.running is not None and order.running.verb is Verb.CORDON and order.node in declared.nodes:
            found.take(declared.nodes[order.node], f"{order.id} is closing it")
    return found


def unmeetable(
    declared: Declared, observed: Observed, capacity: Capacity, nodes: Sequence[DeclaredNode]
) -> Full | None:
    """A domain that could never give a slot to one of `nodes`: by its rules alone, or for nodes that are out for good.

    Out for good are nodes that are out and declared parked, or switched off without an order of ours: nothing that we
    do brings them back.
    """
    lasting = {node for node in capacity.out if _out_for_good(declared, observed, node)}
    for domain in dict.fromkeys(domain for node in nodes if node.id not in capacity.out for domain in node.domains):
        policy = declared.pools[nodes[0].pool].policy
        members, eaters = capacity.members.get(domain, 0), [n for n in capacity.out_in.get(domain, ()) if n in lasting]
        budget, floor = policy.budget.get(domain.kind), policy.floor.get(domain.kind)
        most = budget.as_budget(members, at_least_one=policy.at_least_one) if budget is not None else members
        spare = members - floor.as_floor(members) if floor is not None else members
        if min(most, spare) - len(eaters) <= 0:
            reason = Because.BUDGET_FULL if most <= spare else Because.FLOOR
            rule = f"the budget of {domain} is {budget}" if most <= spare else f"the floor of {domain} is {floor}"
            eaten = f", {len(eaters)} of it for good" if eaters else ""
            return Full(domain, reason, tuple(eaters), f"{rule} of {members} nodes{eaten}: no node could ever be taken")
    return None


def _out_for_good(declared: Declared, observed: Observed, name: NodeId) -> bool:
    node, seen = declared.nodes[name], observed.nodes.get(name)
    if name in observed.records.orders:
        return False
    return node.disposition is Disposition.PARKED or (seen is not None and seen.power is Power.OFF)


def domain_down(node: DeclaredNode, observed: Observed, capacity: Capacity) -> Domain | None:
    """A rack or feed of the node of which no member can be reached: then it isn't the node that failed."""
    for domain in node.domains:
        if domain.kind not in {DomainKind.RACK, DomainKind.FEED, DomainKind.LEAF}:
            continue
        gone = capacity.out_in.get(domain, ())
        if len(gone) >= 2 and len(gone) == capacity.members[domain]:
            states = (observed.nodes.get(other) for other in gone)
            if all(seen is None or seen.reachable is not True for seen in states):
                return domain
    return None
