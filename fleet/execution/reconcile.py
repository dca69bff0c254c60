"""One pass: observe, diagnose, plan, record, begin.

Level-triggered: a pass knows nothing of the one before but what the ledger and the nodes show. A step's entry is
committed durably before the step begins; no entry, no step. Disruptive steps look at the node's work once more, after
our cordon took effect, right before they begin.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fleet.errors import FleetError, NoLease
from fleet.execution.certify import Certify, certified
from fleet.execution.observe import observe
from fleet.health.diagnose import diagnose
from fleet.lifecycle.fold import wiped
from fleet.lifecycle.table import DISRUPTIVE
from fleet.model.ids import Because
from fleet.model.observation import NodeSeen, Observed
from fleet.model.order import Lost, Outcome, StepRecord
from fleet.model.plan import Held, Plan, Step
from fleet.model.topology import Declared
from fleet.planning.planner import plan
from fleet.ports import Clock, Engine, Lease, Ledger, Notify, Observe, Schedule, Watch


@dataclass(frozen=True, slots=True)
class Ports:
    """What a controller needs of the world. `sources` are looked at side by side in each pass."""

    sources: Sequence[Observe | Schedule]
    schedule: Schedule
    ledger: Ledger
    lease: Lease
    engine: Engine
    clock: Clock
    watch: Watch | None = None
    notify: Notify | None = None
    certify: Certify | None = None  # without it, retirements close uncertified and Pulumi won't delete their nodes


LEASE_SECONDS = 30.0


class Controller:
    """Makes passes over one site, in the name of `holder`. Only the holder of the lease acts."""

    def __init__(self, declared: Callable[[], Declared], ports: Ports, holder: str) -> None:
        self._declared = declared
        self._ports = ports
        self._holder = holder
        self._last: float | None = None
        self._ending = threading.Lock()
        self.seen: tuple[Declared, Observed] | None = None  # what the last pass decided on

    def look(self) -> tuple[Declared, Observed]:
        """Observe without deciding anything."""
        declared, ports = self._declared(), self._ports
        now = ports.clock.monotonic()
        since = now - self._last if self._last is not None else 0.0
        alive = ports.engine.alive()  # read before the records: a step that ends in between is then seen as ended
        return declared, observe(declared, ports.ledger.records(), ports.sources, ports.clock, alive, since)

    def decide(self) -> tuple[Declared, Observed, Plan]:
        """Observe and plan, and change nothing: what a pass would do now."""
        declared, observed = self.look()
        return declared, observed, plan(declared, observed)

    def one_pass(self) -> Plan:
        """Observe, decide, record, and begin the steps that the plan allows. Raises NoLease where another acts."""
        ports = self._ports
        if not ports.lease.take(self._holder, ports.clock.now(), LEASE_SECONDS):
            raise NoLease(
                "this site", "another controller holds the lease", "stop it, or wait until it has gone silent"
            )
        declared, observed = self.look()
        found = diagnose(declared, observed)
        if found:
            ports.ledger.commit(found, self._holder, observed.at)
            observed = _with_records(observed, ports)
        self.seen = declared, observed
        decided = plan(declared, observed)
        if ports.certify is not None:
            decided = certified(decided, declared, observed, ports.certify)
        ports.ledger.commit(decided.changes, self._holder, observed.at)
        self._count_waiting(observed, decided)
        steps, late = self._look_again(declared, observed, decided.steps)
        if late:
            decided = replace(decided, steps=steps, held=(*decided.held, *late))
        if ports.watch is not None:
            ports.watch.planned(decided)
        if ports.notify is not None:
            for word in decided.tell:
                ports.notify.tell(word.key, word.title, word.text)
        self._begin(observed, steps)
        self._last = ports.clock.monotonic()
        return decided

    def _count_waiting(self, observed: Observed, decided: Plan) -> None:
        """Add this pass's honest waiting to the orders that drain."""
        for held in decided.held:
            order = observed.records.orders.get(held.node)
            if order is not None and held.reason is Because.DRAIN_WAITING and observed.since_last > 0:
                self._ports.ledger.waited(order.id, observed.since_last)

    def _look_again(
        self, declared: Declared, observed: Observed, steps: Sequence[Step]
    ) -> tuple[tuple[Step, ...], tuple[Held, ...]]:
        """Take out disruptive steps on nodes that have work by now."""
        orders = observed.records.orders
        empty = {node for node, order in orders.items() if wiped(order)}
        risky = [step for step in steps if step.verb in DISRUPTIVE and not step.force and step.node not in empty]
        if not risky:
            return tuple(steps), ()
        fresh = self._ports.schedule.look([declared.nodes[step.node] for step in risky])
        late = tuple(
            Held(
                step.node,
                step.purpose,
                Because.DRAIN_WAITING,
                _work(fresh.get(step.node)),
                "work came, or can't be seen",
            )
            for step in risky
            if step.node not in fresh or fresh[step.node].has_work is not False
        )
        gone = {held.node for held in late}
        return tuple(step for step in steps if step.node not in gone), late

    def _begin(self, observed: Observed, steps: Sequence[Step]) -> None:
        """Commit the entry of each step, then begin them. What was entered begins even if a later entry fails."""
        begun: list[tuple[Step, int]] = []
        try:
            for step in steps:
                seen = observed.nodes.get(step.node) or NodeSeen(step.node)
                firmware = ",".join(f"{part}={version}" for part, version in sorted(seen.shown.items()))
                record = StepRecord(step.verb, 0, self._ports.clock.now(), seen.boot, firmware)
                begun.append((step, self._ports.ledger.begin(step, record, self._holder)))
        finally:
            if begun:
                self._ports.engine.start(begun, self.ended)

    def ended(self, step: Step, token: int, outcome: Outcome) -> None:
        """Record how a step ended; called by the engine, from any of its threads.

        A step of which nobody knows how it ended stays without an end, and so does one whose end can't be recorded: the
        next pass finds it and looks at the node before anything is repeated.
        """
        try:
            with self._ending:
                if not isinstance(outcome, Lost):
                    self._ports.ledger.end(step, token, outcome, self._ports.clock.now())
        except FleetError as error:
            if self._ports.watch is not None:
                self._ports.watch.troubled(error)
        if self._ports.watch is not None:
            self._ports.watch.ended(step, outcome)


def _with_records(observed: Observed, ports: Ports) -> Observed:
    return Observed(
        observed.at,
        observed.nodes,
        ports.ledger.records(),
        observed.clocks,
        observed.gaps,
        observed.in_flight,
        observed.since_last,
    )


def _work(seen: NodeSeen | None) -> tuple[str, ...]:
    return tuple(job.id for job in seen.work) if seen is not None else ()
