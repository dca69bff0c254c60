"""A plan as it is drawn up in one pass: what was surveyed, and what was decided so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median

from fleet.model.ids import Because, NodeId, OrderId, PoolId, Purpose, ReleaseId, RolloutId, Verb
from fleet.model.observation import Hold, NodeSeen, Observed
from fleet.model.order import Rollout
from fleet.model.plan import Change, Held, OrderOpened, Plan, RolloutMoved, Step, Tell
from fleet.model.policy import Policy
from fleet.model.release import Release
from fleet.model.topology import Declared, DeclaredNode
from fleet.planning.breaker import Breaker, breakers
from fleet.planning.capacity import Capacity, survey
from fleet.planning.wants import rollouts_by_node

PLANNED_WORK = frozenset({Purpose.ENROL, Purpose.UPGRADE, Purpose.CORRECT})
"""Purposes that bring a node to a release; what a freeze makes wait."""

CLOCK_LIMIT = timedelta(seconds=60)


@dataclass(slots=True)
class Draft:
    """The state of one pass of planning. Only `planning` sees it; what leaves is a `Plan`."""

    declared: Declared
    observed: Observed
    capacity: Capacity
    breakers: dict[PoolId, Breaker]
    rollouts: dict[RolloutId, Rollout]
    rollout_of: dict[NodeId, RolloutId]
    jumped: str
    observe_only: str
    steps: list[Step] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    @property
    def at(self) -> datetime:
        """Now, as far as the plan knows."""
        return self.observed.at

    def seen(self, node: NodeId) -> NodeSeen:
        """The node as observed; an empty look where there is none."""
        return self.observed.nodes.get(node) or NodeSeen(node)

    def policy(self, node: DeclaredNode) -> Policy:
        """The policy of the node's pool."""
        return self.declared.pools[node.pool].policy

    def release(self, release: ReleaseId | None) -> Release | None:
        """A declared release by its id."""
        return self.declared.releases.get(release) if release is not None else None

    def hold(
        self, node: NodeId, purpose: Purpose, reason: Because, names: tuple[str, ...] = (), text: str = ""
    ) -> None:
        """Note that a node waits, and for what."""
        self.held.append(Held(node, purpose, reason, names, text))

    def move(self, rollout: Rollout, why: str = "") -> None:
        """Keep a rollout's new state, in this pass and in the ledger."""
        self.rollouts[rollout.id] = rollout
        self.changes.append(
            RolloutMoved(rollout.id, rollout.state, why, rollout.canaries, rollout.passed, rollout.failed)
        )

    def held_by(self, kind: str, node: NodeId) -> Hold | None:
        """A person's word of that kind that covers the node now."""
        for hold in self.observed.records.holds:
            if hold.kind == kind and (not hold.nodes or node in hold.nodes):
                if hold.until is not None and hold.until <= self.at and not self.jumped:
                    continue
                return hold
        return None

    def opened_in(self, pool: PoolId) -> list[datetime]:
        """When the open orders of a pool were opened, those of this pass included."""
        nodes = self.declared.nodes
        found = [
            o.opened for o in self.observed.records.orders.values() if o.node in nodes and nodes[o.node].pool == pool
        ]
        here = sum(isinstance(c, OrderOpened) and nodes[c.node].pool == pool for c in self.changes)
        return found + [self.at] * here

    def order_id(self, node: NodeId, purpose: Purpose) -> OrderId:
        """The name of a new order: purpose, node and moment, so that a scheduler's reason can be read."""
        stamp = self.at.strftime("%y%m%dT%H%M%S") + f".{self.at.microsecond // 1000:03d}"
        return OrderId(f"{purpose.lower()}-{node}-{stamp}")

    def open(self, opened: OrderOpened, verb: Verb) -> None:
        """Open an order and take its first step."""
        self.changes.append(opened)
        self.steps.append(Step(opened.order, opened.node, verb, opened.purpose, release=opened.release, why=opened.why))

    def plan(self, tell: tuple[Tell, ...] = ()) -> Plan:
        """What was decided."""
        out = {str(domain): len(names) for domain, names in self.capacity.out_in.items() if names}
        return Plan(self.at, tuple(self.steps), tuple(self.held), tuple(self.changes), out, tell=tell)


def start(declared: Declared, observed: Observed) -> Draft:
    """Survey the fleet at the beginning of a pass."""
    rollouts = dict(observed.records.rollouts)
    of_node = {node: rollout.id for node, rollout in rollouts_by_node(declared, observed).items()}
    capacity = survey(declared, observed)
    found = dict(breakers(declared, observed))
    return Draft(declared, observed, capacity, found, rollouts, of_node, jumped(observed), outdated(observed))


def outdated(observed: Observed) -> str:
    """Why this ledger may only look: it says so itself, or a node has seen a token that it never gave."""
    records = observed.records
    if records.observe_only or records.token is None:
        return records.observe_only
    newest = max(observed.nodes.values(), key=lambda seen: seen.token, default=None)
    if newest is None or newest.token <= records.token:
        return ""
    return (
        f"{newest.id} has seen token {newest.token}, and this ledger gave none above {records.token}: it is an old copy"
    )


def jumped(observed: Observed) -> str:
    """Why the clock can't be believed; empty where it can."""
    last = observed.records.last_entry
    if last is not None and observed.at < last:
        return f"the clock shows {observed.at:%H:%M:%S}, before the last entry of the ledger at {last:%H:%M:%S}"
    if observed.clocks:
        others = datetime.fromtimestamp(median(clock.timestamp() for clock in observed.clocks), observed.at.tzinfo)
        if abs(observed.at - others) > CLOCK_LIMIT:
            return f"this clock shows {observed.at:%H:%M:%S}, those of the fleet {others:%H:%M:%S}"
    return ""
