"""What a claim says of a run: counts and values over the truth of the world, and over what was begun.

Every name of the language is a row of COUNTS, VALUES or VERBS.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fleet.errors import Misuse
from fleet.lifecycle.fold import Scene, advance, phase
from fleet.model.health import Case, Severity
from fleet.model.ids import NodeId, Verb
from fleet.model.order import Rollout
from fleet.model.plan import Held, RolloutPlan
from fleet.planning.breaker import breakers
from fleet.sim.declare import named, seconds
from fleet.sim.fakes import visible
from fleet.sim.statements import Claim, Condition
from fleet.sim.world import DISRUPTS, MUTATES, Begun, Machine

if TYPE_CHECKING:
    from fleet.sim.run import Simulation

ORDERED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
VERBS = {verb.value for verb in Verb} | {"begin", "disrupt", "touch"}


@dataclass(slots=True)
class Notes:
    """What people saw and said in a run, beside the world: plans that were shown, approvals, certificates, bills."""

    plans: dict[str, RolloutPlan] = field(default_factory=dict)  # by pool or rack, the newest
    named_plans: dict[str, tuple[str, RolloutPlan]] = field(default_factory=dict)  # P1 -> (set, plan)
    refused: dict[str, str] = field(default_factory=dict)
    approved: dict[str, str] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)
    reached: dict[NodeId, int] = field(default_factory=dict)  # most mutating steps at once, per node


@dataclass(slots=True)
class Scene0:
    """Everything a claim is judged on, after one pass."""

    simulation: Simulation
    notes: Notes

    @property
    def machines(self) -> Mapping[NodeId, Machine]:
        """The truth."""
        return self.simulation.world.machines

    def held(self, node: NodeId) -> Held | None:
        """Why a node waits, by the last pass."""
        last = self.simulation.last
        found = [held for held in last.held if held.node == node] if last is not None else []
        return found[-1] if found else None

    def nodes(self, text: str) -> list[NodeId]:
        """The nodes that a set names now."""
        return nodes_of(self.simulation, text)


def nodes_of(simulation: Simulation, text: str) -> list[NodeId]:
    """`all`, `pool=train`, `rack=a1`, `job=j1`, or names and spans."""
    world = simulation.world
    if text == "all":
        return list(world.machines)
    kind, equals, name = text.partition("=")
    if not equals:
        return [NodeId(each) for each in named(text)]
    if kind == "job":
        job = world.jobs.get(name)
        return list(job.nodes) if job is not None and job.state == "running" else []
    return [
        node.id
        for node in world.declared.nodes.values()
        if any(domain.kind == kind and domain.name == name for domain in node.domains)
    ]


# Counts


def _each(judge: Callable[[Scene0, Machine], bool]) -> Callable[[Scene0, list[NodeId], tuple[str, ...]], int]:
    def count(scene: Scene0, nodes: list[NodeId], _args: tuple[str, ...]) -> int:
        return sum(judge(scene, machine) for machine in scene.simulation.world.some(nodes))

    return count


def _on_release(scene: Scene0, nodes: list[NodeId], args: tuple[str, ...]) -> int:
    release = next((r for r in scene.simulation.world.declared.releases.values() if r.id == args[0]), None)
    if release is None:
        return 0
    return sum(machine.shows(release) for machine in scene.simulation.world.some(nodes))


def _owner(scene: Scene0, nodes: list[NodeId], args: tuple[str, ...]) -> int:
    return sum(bool(machine.holds_of(args[0])) for machine in scene.simulation.world.some(nodes))


def _mark(scene: Scene0, nodes: list[NodeId], args: tuple[str, ...]) -> int:
    return sum(any(by == args[0] for by, _ in machine.marks) for machine in scene.simulation.world.some(nodes))


def _cases(scene: Scene0, nodes: list[NodeId], _args: tuple[str, ...]) -> int:
    return len({case.id for node in nodes if (case := _case_of(scene, node)) is not None})


def _case_of(scene: Scene0, node: NodeId) -> Case | None:
    case = scene.simulation.ledger.cases.get(node)
    return case if case is not None and case.open and case.severity is not Severity.WATCH else None


def _open_orders(scene: Scene0, nodes: list[NodeId], _args: tuple[str, ...]) -> int:
    return sum(order.node in nodes for order in scene.simulation.ledger.orders.values())


def _held_count(scene: Scene0, nodes: list[NodeId], _args: tuple[str, ...]) -> int:
    return sum(scene.held(node) is not None for node in nodes)


def _at_once(scene: Scene0, nodes: list[NodeId], _args: tuple[str, ...]) -> int:
    running = {n: sum(run.step.verb in MUTATES for run in scene.machines[n].runs) for n in nodes if n in scene.machines}
    most = scene.simulation.world.most_beside
    return max((max(count, most.get(node, 0)) for node, count in running.items()), default=0)


def _gap(scene: Scene0, nodes: list[NodeId], _args: tuple[str, ...]) -> int:
    observed = scene.simulation.look()
    return sum(bool(observed.nodes[node].gaps) for node in nodes if node in observed.nodes)


def _notified(scene: Scene0, nodes: list[NodeId], _args: tuple[str, ...]) -> int:
    told = scene.simulation.world.told
    return sum(any(node in key.replace(":", " ").split() or node in text for _, key, text in told) for node in nodes)


def _probation(scene: Scene0, nodes: list[NodeId], _args: tuple[str, ...]) -> int:
    now, enrolled = scene.simulation.clock.now(), scene.simulation.ledger.enrolled
    return sum(
        (until := enrolled[node].probation_until) is not None and until > now for node in nodes if node in enrolled
    )


def _billed(scene: Scene0, nodes: list[NodeId], _args: tuple[str, ...]) -> int:
    return sum(not machine.removed for machine in scene.simulation.world.some(nodes) if machine.facts.get("billed"))


COUNTS: Mapping[str, Callable[[Scene0, list[NodeId], tuple[str, ...]], int]] = {
    "in_service": _each(lambda _, machine: machine.in_service),
    "out_of_service": _each(lambda _, machine: not machine.in_service),
    "cordoned": _each(lambda _, machine: bool(machine.holds)),
    "quarantined": _each(lambda scene, machine: machine.ours and _case_of(scene, machine.id) is not None),
    "intact": _each(lambda _, machine: not machine.corrupt),
    "services_up": _each(lambda _, machine: all(holder.up for holder in machine.holders if holder.service)),
    "held": _held_count,
    "gap": _gap,
    "probation": _probation,
    "notified": _notified,
    "billed": _billed,
    "cases": _cases,
    "open_orders": _open_orders,
    "on_release": _on_release,
    "owner": _owner,
    "mark": _mark,
    "mutating_at_once": _at_once,
}


# Values

Value = str | float | tuple[str, ...] | None


def _phase(scene: Scene0, claim: Claim) -> Value:
    simulation, node = scene.simulation, NodeId(claim.args[0])
    declared = simulation.world.declared
    if node not in declared.nodes:
        return None
    order, enrolled = simulation.ledger.orders.get(node), simulation.ledger.enrolled.get(node)
    observed = simulation.look()
    seen = observed.nodes.get(node)
    if seen is None:
        return None
    way = None
    if order is not None:
        release = declared.releases.get(order.release) if order.release else None
        way = advance(Scene(order, seen, release, declared.pools[declared.nodes[node].pool].policy, observed.at))
    return str(phase(order, way, seen, enrolled))


def _purpose(scene: Scene0, claim: Claim) -> Value:
    order = scene.simulation.ledger.orders.get(NodeId(claim.args[0]))
    return str(order.purpose) if order is not None else None


def _breaker(scene: Scene0, _claim: Claim) -> Value:
    simulation = scene.simulation
    found = breakers(simulation.world.declared, simulation.look())
    return "tripped" if any(breaker.tripped for breaker in found.values()) else "clear"


def _held_value(scene: Scene0, claim: Claim) -> Value:
    held = scene.held(NodeId(claim.args[0]))
    if held is None:
        return None
    said: dict[str, Value] = {"reason": str(held.reason), "names": (*held.names,), "purpose": str(held.purpose)}
    return said[claim.field]


def _case_value(scene: Scene0, claim: Claim) -> Value:
    node = NodeId(claim.args[0])
    case = scene.simulation.ledger.cases.get(node)
    if case is None or not case.open:
        machine = scene.machines.get(node)
        notes = visible(scene.simulation.world, machine) if machine is not None else []
        watch = [fault for fault in notes if fault.severity is Severity.WATCH]
        return str(watch[0].severity) if watch and claim.field == "severity" else None
    order = scene.simulation.ledger.orders.get(node)
    match claim.field:
        case "causes":
            return case.causes
        case "severity":
            return str(case.severity)
        case "device":
            return case.device
        case "rung":
            return str(order.rung) if order is not None and order.rung is not None else None
    return None


def _rollout(scene: Scene0, claim: Claim) -> Value:
    found = list(scene.simulation.ledger.rollouts.values())
    if claim.args:
        nodes = set(scene.nodes(claim.args[0]))
        found = [rollout for rollout in found if nodes & set(rollout.nodes)]
    last: Rollout | None = found[-1] if found else None
    return str(last.state) if last is not None else None


def _plan(scene: Scene0, claim: Claim) -> Value:
    key = claim.args[0]
    notes = scene.notes
    if claim.field == "refused":
        return notes.refused.get(key)
    shown = notes.plans.get(key)
    if shown is None:
        return None
    names = [*(shown.refused.names if shown.refused else ()), *(name for held in shown.held for name in held.names)]
    names += [held.node for held in shown.held]
    if claim.field == "names":
        return tuple(names)
    return (*names, *shown.irreversible)


def _approval(scene: Scene0, claim: Claim) -> Value:
    name = claim.args[0]
    if name not in scene.notes.approved:
        return "none" if name in scene.notes.named_plans else None
    if name in scene.notes.stale:
        return "stale"
    return "valid"


def _certificate(scene: Scene0, claim: Claim) -> Value:
    enrolled = scene.simulation.ledger.enrolled.get(NodeId(claim.args[0]))
    return (enrolled.certificate or "none") if enrolled is not None else None


def _job(scene: Scene0, claim: Claim) -> Value:
    job = scene.simulation.world.jobs.get(claim.args[0])
    if job is None:
        return None
    said: dict[str, Value] = {"state": job.state, "lost": job.lost, "preempted": float(job.preempted)}
    return said[claim.field]


VALUES: Mapping[str, Callable[[Scene0, Claim], Value]] = {
    "phase": _phase,
    "purpose": _purpose,
    "breaker": _breaker,
    "held": _held_value,
    "case": _case_value,
    "rollout": _rollout,
    "plan": _plan,
    "approval": _approval,
    "certificate": _certificate,
    "job": _job,
}


def is_verb(claim: Claim) -> bool:
    """Whether a claim is about steps begun."""
    return claim.name in VERBS and not (claim.name == "rma" and claim.field)


def steps(simulation: Simulation, claim: Claim, since: float = 0.0, until: float = float("inf")) -> list[Begun]:
    """The steps begun that a claim about verbs speaks of, oldest first."""
    target = claim.args[0]
    job = target.partition("=")[2] if target.startswith("job=") else ""
    nodes = set() if job else set(nodes_of(simulation, target))
    return [
        begun
        for begun in simulation.world.begun
        if since <= begun.at < until and (job in begun.jobs if job else begun.node in nodes) and _is(begun, claim.name)
    ]


def _is(begun: Begun, name: str) -> bool:
    match name:
        case "begin":
            return begun.first
        case "disrupt":
            return begun.verb in DISRUPTS
        case "touch":
            return True
        case "uncordon":
            return begun.verb is Verb.UNCORDON and begun.opened
        case _:
            return begun.verb == name


def holds(scene: Scene0, condition: Condition) -> bool:
    """Whether a condition without verbs is true now."""
    if condition.given and not all(judge(scene, claim) for claim in condition.given):
        return True
    return all(judge(scene, claim) for claim in condition.then)


def judge(scene: Scene0, claim: Claim) -> bool:
    """Whether one claim is true now."""
    return _judge(scene, claim) is not claim.negated


def _judge(scene: Scene0, claim: Claim) -> bool:
    if claim.name == "respects":
        return not scene.simulation.world.violations
    if claim.name in COUNTS and not claim.field and claim.name not in ("case",):
        nodes = scene.nodes(claim.args[0])
        count = COUNTS[claim.name](scene, nodes, claim.args[1:])
        if not claim.op:
            return bool(nodes) and count >= len(nodes)
        return compare(float(count), claim.op, claim.value)
    if claim.name in VALUES:
        value = VALUES[claim.name](scene, claim)
        if value is None:
            return claim.op == "==" and claim.value == ("none",) and claim.name == "plan"
        return compare(value, claim.op, claim.value)
    raise Misuse(f"the claim {claim.name}(...)", "no such count or value")


def shown(scene: Scene0, claim: Claim) -> str:
    """What a claim speaks of, as it is now, for people."""
    if claim.name in VALUES:
        return str(VALUES[claim.name](scene, claim))
    if claim.name in COUNTS:
        nodes = scene.nodes(claim.args[0])
        return f"{COUNTS[claim.name](scene, nodes, claim.args[1:])} of {len(nodes)}"
    return "unknown"


def compare(value: Value, op: str, wanted: Iterable[str]) -> bool:
    wanted = tuple(wanted)
    match op:
        case "==":
            return _same(value, wanted[0])
        case "!=":
            return not _same(value, wanted[0])
        case "in":
            return any(_same(value, each) for each in wanted)
        case "includes":
            return isinstance(value, tuple) and any(wanted[0] in name.split("/") for name in value)
        case _:
            return isinstance(value, float) and ORDERED[op](value, _number(wanted[0]))


def _same(value: Value, wanted: str) -> bool:
    return value == _number(wanted) if isinstance(value, float) else str(value) == wanted


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return seconds(text)
