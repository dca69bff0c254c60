"""A fleet for commands: the lab's inventory on simulated machines in virtual time, with a real ledger."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fleet import app
from fleet.adapters.ledger_sql import SqlLedger
from fleet.cli import main
from fleet.model.ids import NodeId, ReleaseId, Verb
from fleet.model.observation import Enrolment
from fleet.model.order import Done, Failed, Outcome
from fleet.model.plan import Step
from fleet.model.release import Release
from fleet.model.topology import Declared, DeclaredNode
from fleet.sim.agenda import moment
from fleet.sim.answers import Answer
from fleet.sim.engine import VirtualEngine
from fleet.sim.fakes import Scheduler, SimClock
from fleet.sim.run import Sources, carry
from fleet.sim.world import Fault, Machine, World

INVENTORY = Path(__file__).resolve().parents[2] / "inventory" / "lab"


class Patient(VirtualEngine):
    """The engine in virtual time, whose waiting moves the time."""

    def wait(self, seconds: float) -> bool:
        agenda = self.world.agenda
        until = agenda.now + seconds
        agenda.at(until, lambda: None)
        before = self.alive()
        while agenda.next is not None and agenda.next <= until:
            agenda.advance()
            if self.alive() != before:
                return True
        return False


@dataclass
class Looks:
    """A Configure that answers as it is told, for `fleet verify`."""

    bad: dict[NodeId, str] = field(default_factory=dict)
    asked: list[tuple[Verb, NodeId]] = field(default_factory=list)

    def run(
        self,
        verb: Verb,
        steps: Sequence[tuple[Step, DeclaredNode, int]],
        release: Release | None,
        ended: Callable[[Step, Outcome], None],
    ) -> None:
        for step, node, _ in steps:
            self.asked.append((verb, node.id))
            ended(step, Failed(self.bad[node.id]) if node.id in self.bad else Done("8 accelerators", {"gpus": "8"}))

    def cancel(self) -> None:
        pass


@dataclass
class Desk:
    """What a test of a command works with: type a command, look at what it printed and at the world."""

    world: World
    home: Path
    inventory: Path
    looks: Looks
    opened: Callable[[], app.Fleet]
    capture: pytest.CaptureFixture[str]
    out: str = ""
    err: str = ""

    def type(self, *words: str) -> int:
        """Run `fleet WORDS`; keeps what was printed."""
        code = main.run(words)
        self.out, self.err = self.capture.readouterr()
        return code

    def edit(self, file: str, before: str, after: str) -> None:
        """Change a declared file as a person would."""
        path = self.inventory / file
        text = path.read_text()
        assert before in text
        path.write_text(text.replace(before, after))

    def machine(self, name: str) -> Machine:
        return self.world.machines[NodeId(name)]

    def answer(self, verb: str, node: str, says: str, why: str = "", times: int | None = None) -> None:
        """How a node answers a verb from now on."""
        self.world.answers.add(Answer(verb, frozenset({NodeId(node)}), says, why=why, times=times))

    @contextmanager
    def interrupted_after(self, minutes: float) -> Iterator[None]:
        """A person presses Ctrl-C after some minutes of virtual time."""
        self.world.agenda.after(minutes * 60, lambda: os.kill(os.getpid(), signal.SIGINT))
        yield

    def fault(self, name: str, what: str, severity: str = "fatal") -> None:
        from fleet.model.health import Severity

        self.machine(name).faults.append(Fault(what, Severity(severity), self.world.now, real=True))


def machines(declared: Declared) -> World:
    """Healthy, idle machines that serve on what git declares."""
    world = World(declared)
    for node in declared.nodes.values():
        world.machines[node.id] = machine = Machine(node.id, node.serial)
        machine.expected_devices = machine.devices = node.accelerators
        carry(machine, declared, declared.target(node))
    return world


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    from fleet.spec import load

    inventory = tmp_path / "inventory" / "lab"
    shutil.copytree(INVENTORY, inventory)
    declared = app.Reloading(inventory, load)
    world = machines(declared())
    found = app.Settings(inventory, tmp_path / ".fleet", tmp_path, interval=30.0)
    looks = Looks()

    def opened(_: Path | None = None) -> app.Fleet:
        clock = SimClock(world)
        found.home.mkdir(parents=True, exist_ok=True)
        store = SqlLedger(found.ledger, now=clock.now)
        world.declared = declared()
        return app.Fleet(
            settings=found,
            declared=declared,
            store=store,
            sources=(Sources(world),),
            schedule=Scheduler(world),
            configure=looks,
            engine=Patient(world),
            clock=clock,
            certify=lambda node, order, at: f"certificates/{node.id}.json",
            closers=(store.close,),
        )

    with opened() as fleet:
        for node in declared().nodes.values():
            release = ReleaseId(declared().target(node))
            enrolled = Enrolment(node.id, node.serial, "ssh-ed25519 AAAA", release, True, moment(0))
            fleet.store.enrol(enrolled, "test")
    world.agenda.at(60, lambda: None)
    world.agenda.advance()
    monkeypatch.setattr(app, "open_fleet", opened)
    monkeypatch.setattr(app, "settings", lambda *_: found)
    monkeypatch.setenv("USER", "ada")
    monkeypatch.delenv("SUDO_USER", raising=False)
    monkeypatch.setenv("FLEET_HOME", str(found.home))
    monkeypatch.setenv("COLUMNS", "100")
    return Desk(world, found.home, inventory, looks, opened, capsys)
