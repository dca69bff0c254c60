"""What must never happen, judged on the truth of a simulated fleet after every pass. The numbers are the design's.

Each rule is a row of RULES: it reads the steps that began since it was asked last, with what was true when they began,
and never our own records (but for never 10, which is about them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fleet.model.ids import FLEET, Autonomy, NodeId, Purpose, Verb
from fleet.model.policy import AtDeadline
from fleet.sim import truth
from fleet.sim.physics import OVER_SSH
from fleet.sim.run import Simulation
from fleet.sim.world import DISRUPTS, MUTATES, Begun

ONCE = frozenset({Verb.REBOOT, Verb.POWER_CYCLE, Verb.FLASH})
INSTALLS = frozenset({Verb.CONVERGE, Verb.REVERT})
NOT_HELD_BACK = frozenset({Purpose.SHED})


@dataclass(slots=True)
class Nevers:
    """A watcher of a simulation; `broken` grows by a line for each thing that must never happen and did."""

    broken: list[str] = field(default_factory=list)
    judged: int = 0
    foreign: dict[NodeId, set[str]] = field(default_factory=dict)
    preempted: dict[str, int] = field(default_factory=dict)

    def __call__(self, simulation: Simulation) -> None:
        """After a pass."""
        fresh = simulation.world.begun[self.judged :]
        self.judged = len(simulation.world.begun)
        for number, rule in RULES.items():
            self._keep(simulation, number, rule(simulation, fresh))
        self._keep(simulation, 2, self._foreign_cordons(simulation))
        self._keep(simulation, 3, self._requeued(simulation))

    def _keep(self, simulation: Simulation, number: int, lines: Iterator[str]) -> None:
        self.broken.extend(f"never {number}: {simulation.world.now:.0f}s: {line}" for line in lines)

    def lifted(self, node: NodeId, owner: str) -> None:
        """Somebody lifted a claim: it is rightly gone."""
        self.foreign.get(node, set()).discard(owner)

    def _foreign_cordons(self, simulation: Simulation) -> Iterator[str]:
        """A claim of somebody else goes only by that person's hand, which `World.lifted` tells."""
        world = simulation.world
        for machine in world.machines.values():
            now = {hold.owner for hold in machine.holds if hold.owner != FLEET}
            gone = self.foreign.get(machine.id, set()) - now - world.lifted.get(machine.id, set())
            for owner in gone:
                yield f"the cordon of {owner} on {machine.id} is gone"
            self.foreign[machine.id] = now
        world.lifted.clear()

    def _requeued(self, simulation: Simulation) -> Iterator[str]:
        """Work is taken off a node only where policy says so beforehand, and after the deadline in true time."""
        world = simulation.world
        for job in world.jobs.values():
            if job.preempted > self.preempted.get(job.id, 0):
                self.preempted[job.id] = job.preempted
                for node in job.nodes:
                    drain = world.declared.pools[world.declared.nodes[node].pool].policy.drain
                    forced = [b for b in world.begun if b.node == node and b.verb is Verb.DRAIN and b.force]
                    if not forced:
                        continue
                    of_order = [b for b in world.begun if b.order == forced[-1].order]
                    opened = max((b.index for b in of_order if b.verb is Verb.UNCORDON), default=-1)
                    closed = [b.at for b in of_order if b.verb is Verb.CORDON and b.index > opened]
                    waited = world.now - min(closed, default=world.now)
                    if drain.then is not AtDeadline.REQUEUE or drain.deadline is None:
                        yield f"{job.id} was requeued on {node}, and policy does not say so"
                    elif waited + 1 < drain.deadline.total_seconds():
                        yield f"{job.id} was requeued on {node} after {waited:.0f} s, before the deadline"


def _budgets(simulation: Simulation, fresh: Sequence[Begun]) -> Iterator[str]:
    if fresh:
        yield from truth.overdrawn(simulation.world, truth.taken(simulation.world, fresh[0].index))


def _opens_only_ours(_: Simulation, fresh: Sequence[Begun]) -> Iterator[str]:
    for begun in fresh:
        if begun.verb is Verb.UNCORDON and FLEET not in begun.closed_by:
            yield f"uncordon of {begun.node}, which we do not hold (held by {', '.join(begun.closed_by) or 'nobody'})"


def _spares_work(simulation: Simulation, fresh: Sequence[Begun]) -> Iterator[str]:
    for begun in fresh:
        left = [name for name in begun.work if begun.verb in DISRUPTS]
        if left and begun.purpose is not Purpose.SHED:
            yield f"{begun.verb} on {begun.node} under {', '.join(left)}"


def _one_at_a_time(_: Simulation, fresh: Sequence[Begun]) -> Iterator[str]:
    for begun in fresh:
        if begun.verb in MUTATES and begun.beside:
            yield f"{begun.verb} on {begun.node} beside a verb that still runs there"


def _proves(_: Simulation, fresh: Sequence[Begun]) -> Iterator[str]:
    for begun in fresh:
        if begun.opened and not begun.proved:
            yield f"{begun.node} opened without a passed verify after its last disruptive verb"


def _sees(simulation: Simulation, fresh: Sequence[Begun]) -> Iterator[str]:
    for begun in fresh:
        if begun.blind and begun.verb in (OVER_SSH & DISRUPTS) | {Verb.UNCORDON, Verb.VERIFY}:
            yield f"{begun.verb} on {begun.node}, which could not be seen"
    for case in simulation.ledger.cases.values():
        if case.node not in simulation.world.ever_sick and not _failed(simulation, case.node):
            yield f"{case.node} has a case ({', '.join(case.causes)}) and never gave a sign of a fault"


def _failed(simulation: Simulation, node: NodeId) -> bool:
    """Whether a step failed on the node: then a case for hands is earned."""
    order = simulation.ledger.orders.get(node)
    return order is not None and any(step.result == "failed" for step in order.steps)


def _looks_first(simulation: Simulation, fresh: Sequence[Begun]) -> Iterator[str]:
    begun_before = simulation.world.begun
    for begun in fresh:
        if begun.verb not in ONCE:
            continue
        for earlier in reversed([b for b in begun_before[: begun.index] if b.order == begun.order]):
            if earlier.purpose is not begun.purpose or earlier.verb in INSTALLS or earlier.verb is Verb.VERIFY:
                break
            if earlier.verb is begun.verb and earlier.index in simulation.world.acted:
                yield f"{begun.verb} of {begun.node} repeated, and the first had happened ({begun.order})"
                break


def _written_first(simulation: Simulation, fresh: Sequence[Begun]) -> Iterator[str]:
    if not fresh:
        return
    recent = simulation.ledger.trail[-10 * len(simulation.world.machines) - 100 :]
    written = {entry.what.partition(", token")[0] for entry in recent}
    for begun in fresh:
        if begun.order and begun.verb not in (Verb.RMA, Verb.DELETE):
            line = f"{begun.verb} begins on {begun.node} ({begun.order}"
            if line not in written:
                yield f"{begun.verb} on {begun.node} has no entry in the ledger"


def _allowed(simulation: Simulation, fresh: Sequence[Begun]) -> Iterator[str]:
    declared = simulation.world.declared
    for begun in fresh:
        node = declared.nodes.get(begun.node)
        if node is None or begun.verb not in MUTATES | {Verb.CORDON} or begun.purpose in NOT_HELD_BACK:
            continue
        autonomy = declared.pools[node.pool].policy.may(begun.purpose)
        if autonomy is Autonomy.OBSERVE:
            yield f"{begun.verb} for {begun.purpose} on {begun.node}, and autonomy is observe"
        if autonomy is Autonomy.PROPOSE and not simulation.ledger.approvals:
            yield f"{begun.verb} for {begun.purpose} on {begun.node}, and nobody approved it"
        stopped = any(hold.kind == "stop" for hold in simulation.ledger.holds)
        if stopped and (begun.first or begun.verb in DISRUPTS) and begun.purpose is not Purpose.RETIRE:
            yield f"{begun.verb} on {begun.node} after `fleet stop`"


RULES: Mapping[int, Callable[[Simulation, Sequence[Begun]], Iterator[str]]] = {
    1: _budgets,
    2: _opens_only_ours,
    3: _spares_work,
    4: _one_at_a_time,
    5: _proves,
    7: _sees,
    10: _looks_first,
    12: _written_first,
    13: _allowed,
}
