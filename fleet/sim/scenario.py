"""Decision scenarios: a story in a file, played on a simulated fleet, and the statements that do not hold."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from fleet.errors import Misuse
from fleet.model.ids import NodeId, OrderId, Purpose, ReleaseId, Verb
from fleet.sim import claims, truth
from fleet.sim.claims import Scene0
from fleet.sim.declare import declared, named, seconds
from fleet.sim.events import EVENTS, put_facts
from fleet.sim.nevers import Nevers
from fleet.sim.run import Simulation, carry, populate
from fleet.sim.stage import Stage
from fleet.sim.statements import Claim, Statement, parse
from fleet.sim.world import Begun


@dataclass(frozen=True, slots=True)
class Broken:
    """A statement that does not hold, and what was seen instead."""

    statement: str
    seen: str


@dataclass(slots=True)
class Verdict:
    """What became of one scenario."""

    name: str
    title: str
    broken: tuple[Broken, ...]
    passes: int
    trouble: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every statement holds."""
        return not self.broken and not self.trouble


@dataclass(slots=True)
class Watcher:
    """Judges statements after every pass."""

    scene: Scene0
    statements: list[Statement]
    wrong: dict[int, str] = field(default_factory=dict)
    right: dict[int, float] = field(default_factory=dict)
    judged: int = 0  # steps begun that were judged against budgets
    handed: set[OrderId] = field(default_factory=set)
    over: list[str] = field(default_factory=list)
    retired: set[NodeId] = field(default_factory=set)

    def __call__(self, simulation: Simulation) -> None:
        """After a pass."""
        world = simulation.world
        self._note_people(simulation)
        over = truth.overdrawn(world, truth.taken(world, self.judged))
        self.judged = len(world.begun)
        self.over.extend(f"{world.now:.0f}s: {line}" for line in over)
        for index, statement in enumerate(self.statements):
            self._judge(index, statement, world.now, bool(over))

    def _judge(self, index: int, statement: Statement, now: float, over: bool) -> None:
        if statement.condition is None or statement.kind in ("count", "order", "finally"):
            return
        if any(claims.is_verb(claim) for claim in statement.condition.then):
            return
        if statement.kind == "at" and now != statement.since:
            return
        if statement.kind in ("always", "never") and not statement.covers(now):
            return
        if statement.kind == "eventually" and (index in self.right or now > statement.until):
            return
        if statement.condition.then[0].name == "respects":
            if over:
                self.wrong.setdefault(index, f"at {now:.0f}s: {self.over[-1]}")
            return
        true = claims.holds(self.scene, statement.condition)
        match statement.kind:
            case "eventually" if true:
                self.right[index] = now
            case "at" if true:
                self.wrong.pop(index, None)
            case "at":
                self.wrong[index] = f"at {now:.0f}s: {self.seen(statement)}"
            case "always" if not true:
                self.wrong.setdefault(index, f"at {now:.0f}s: {self.seen(statement)}")
            case "never" if true:
                self.wrong.setdefault(index, f"at {now:.0f}s: {self.seen(statement)}")

    def _note_people(self, simulation: Simulation) -> None:
        """Handing a node to people, and letting a retired machine go, are steps too; nobody carries them out."""
        world = simulation.world
        for order in simulation.ledger.orders.values():
            if (order.hands or order.rung is Verb.RMA) and order.id not in self.handed:
                self.handed.add(order.id)
                self._note(world.begun, world.now, Verb.RMA, order.node, order.id, order.purpose)
        for node, enrolled in simulation.ledger.enrolled.items():
            if enrolled.retired and node not in self.retired:
                self.retired.add(node)
                self._note(world.begun, world.now, Verb.DELETE, node, OrderId(""), Purpose.RETIRE)

    @staticmethod
    def _note(begun: list[Begun], at: float, verb: Verb, node: NodeId, order: OrderId, purpose: Purpose) -> None:
        begun.append(
            Begun(
                at,
                len(begun),
                verb,
                node,
                order,
                purpose,
                False,
                (),
                (),
                False,
                False,
                False,
                0,
                (),
                True,
                False,
                False,
            )
        )

    def seen(self, statement: Statement) -> str:
        """What the claims of a statement really were."""
        assert statement.condition is not None
        return "; ".join(
            f"{claim.name}({', '.join(claim.args)}){'.' + claim.field if claim.field else ''}"
            f" is {claims.shown(self.scene, claim)}"
            for claim in (*statement.condition.given, *statement.condition.then)
        )

    def finish(self) -> tuple[Broken, ...]:
        """The statements that do not hold, when the run is over."""
        found = []
        for index, statement in enumerate(self.statements):
            why = self._at_end(index, statement)
            if why:
                found.append(Broken(statement.text, why))
        return tuple(found)

    def _at_end(self, index: int, statement: Statement) -> str:
        if statement.kind == "order":
            return self._order(statement)
        assert statement.condition is not None
        verb = next((claim for claim in statement.condition.then if claims.is_verb(claim)), None)
        if verb is not None:
            return self._verb(statement, verb)
        if statement.kind == "finally":
            return "" if claims.holds(self.scene, statement.condition) else f"at the end: {self.seen(statement)}"
        if statement.kind == "eventually":
            return "" if index in self.right else f"at the end: {self.seen(statement)}"
        return self.wrong.get(index, "")

    def _verb(self, statement: Statement, claim: Claim) -> str:
        begun = claims.steps(self.scene.simulation, claim, statement.since, statement.until)
        text = ", ".join(f"{step.at:.0f}s {step.verb} {step.node}" for step in begun[:6]) or "nothing"
        match statement.kind:
            case "never":
                return f"begun: {text}" if begun else ""
            case "count":
                wanted = claims.compare(float(len(begun)), claim.op, claim.value)
                return "" if wanted else f"{len(begun)} begun: {text}"
            case _:
                return "" if begun else "never begun in time"

    def _order(self, statement: Statement) -> str:
        simulation = self.scene.simulation
        firsts: list[list[int]] = []
        for claim in statement.chain:
            first: dict[NodeId, int] = {}
            for step in claims.steps(simulation, claim):
                first.setdefault(step.node, step.index)
            if not first:
                return f"{claim.name}({claim.args[0]}) never happened"
            firsts.append(list(first.values()))
        for claim, before, after in zip(statement.chain, firsts, firsts[1:], strict=False):
            if max(before) >= min(after):
                return f"{claim.name}({claim.args[0]}) came after what should follow it"
        return ""


@dataclass(slots=True)
class Play:
    """A scenario that is ready to be run, or has been."""

    raw: Mapping[str, Any]
    name: str
    stage: Stage
    watcher: Watcher
    nevers: Nevers
    ends: float

    def run(self) -> Verdict:
        """Play it to its end."""
        simulation = self.stage.simulation
        simulation.run(self.ends)
        trouble = tuple(dict.fromkeys(line.partition(": ")[2] for line in simulation.failures[:5]))
        broken = (*self.watcher.finish(), *(Broken("never", line) for line in self.nevers.broken[:5]))
        return Verdict(self.name, str(self.raw.get("title", "")), broken, simulation.passes, trouble)


def prepare(raw: Mapping[str, Any], name: str) -> Play:
    """Make the fleet of a scenario, and put its timeline on the agenda."""
    given = copy.deepcopy(dict(raw["declared"]))
    fleet = declared(given)
    simulation = populate(fleet)
    for where, release in given.get("applied", {}).items():
        for node in named(where):
            carry(simulation.world.machines[NodeId(node)], fleet, release)
            simulation.ledger.applied(NodeId(node), ReleaseId(release))
    stage = Stage(simulation, given)
    for where, facts in given.get("facts", {}).items():
        for node in claims.nodes_of(simulation, where):
            put_facts(simulation, simulation.world.machines[node], facts)
    statements = [parse(entry) for entry in raw["expect"]]
    watcher = Watcher(Scene0(simulation, stage.notes), statements)
    nevers = Nevers()
    simulation.watchers += [watcher, nevers]
    agenda = simulation.world.agenda
    for event in raw["timeline"]:
        agenda.at(seconds(event["at"]), _happens(stage, event))
    for statement in statements:
        for moment in (statement.since, statement.until):
            if 0 < moment < float("inf"):
                agenda.at(moment, lambda: None)
    return Play(raw, name, stage, watcher, nevers, seconds(raw["timeline"][-1]["at"]))


def _happens(stage: Stage, event: Mapping[str, Any]) -> Callable[[], None]:
    what = EVENTS.get(str(event["event"]))
    if what is None:
        raise Misuse(f"the event {event['event']!r}", "no such event", "see the vocabulary of the scenarios")
    return lambda: what(stage, event)


def load(path: Path) -> Mapping[str, Any]:
    """A scenario as it is in its file."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        why = " ".join(str(error).split())[:200]
        raise Misuse(f"{path}", f"it can't be read as a scenario: {why}", "name a scenario in YAML") from error
    if not isinstance(raw, Mapping) or not {"declared", "timeline", "expect"} <= set(raw):
        raise Misuse(f"{path}", "it is no decision scenario: it needs `declared`, `timeline` and `expect`")
    return raw


def play(path: Path) -> Verdict:
    """Run one scenario file."""
    return prepare(load(path), path.stem).run()
