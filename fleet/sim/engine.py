"""The engine in virtual time: steps go on in the world, and their ends come back as long as the controller lives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fleet.model.ids import NodeId, OrderId, Verb
from fleet.model.order import Outcome
from fleet.model.plan import Step
from fleet.sim import physics
from fleet.sim.world import RunningStep, World

Ended = Callable[[Step, int, Outcome], None]


@dataclass(slots=True)
class VirtualEngine:
    """Port Engine. What it begins goes on in the world, also when nobody waits for it any more."""

    world: World
    lives: bool = True
    carrying: dict[OrderId, RunningStep | None] = field(default_factory=dict)

    def start(self, steps: Sequence[tuple[Step, int]], ended: Ended) -> None:
        """Begin steps; a step without duration has ended when this returns."""
        for step, token in steps:
            self.carrying[step.order] = None
            release = self.world.declared.releases.get(step.release) if step.release is not None else None
            if release is None:
                release = physics.release_of(self.world, step.node)
            run = physics.begin(self.world, step, token, release, self._hear(step, token, ended))
            if run is not None and step.order in self.carrying:
                self.carrying[step.order] = run

    def _hear(self, step: Step, token: int, ended: Ended) -> Callable[[Outcome], None]:
        def heard(outcome: Outcome) -> None:
            if self.lives:
                self.carrying.pop(step.order, None)
                ended(step, token, outcome)

        return heard

    def alive(self) -> frozenset[OrderId]:
        """Orders with a step that is carried out now and whose end would be heard."""
        return frozenset(order for order, run in self.carrying.items() if run is None or run.alive)

    def wait(self, seconds: float) -> bool:
        """Nobody waits in virtual time."""
        return False

    def stop(self) -> None:
        """The controller goes; what runs in the world goes on, and its end is heard by nobody."""
        self.lives = False
        for machine in self.world.machines.values():
            for run in machine.runs:
                run.alive = False
        self.carrying.clear()

    def lose(self, node: NodeId, verb: Verb) -> RunningStep | None:
        """The worker of one step dies: its end will not be heard."""
        for run in self.world.machines[node].runs:
            if run.step.verb is verb:
                run.alive = False
                self.carrying.pop(run.step.order, None)
                return run
        return None
