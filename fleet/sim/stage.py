"""What events act on: the run, the declaration as it stands, and what people noted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fleet.sim.claims import Notes, nodes_of
from fleet.sim.declare import named, seconds
from fleet.sim.run import Simulation
from fleet.sim.world import Machine

Event = Mapping[str, Any]


@dataclass(slots=True)
class Stage:
    """What events act on: the run, the declaration as it stands, and what people noted."""

    simulation: Simulation
    raw: dict[str, Any]
    notes: Notes = field(default_factory=Notes)

    def machines(self, event: Event) -> list[Machine]:
        """The machines that an event names by node, rack, feed or pool."""
        world = self.simulation.world
        if "node" in event:
            names = [node for text in named(event["node"]) for node in nodes_of(self.simulation, text)]
        else:
            kind = next((kind for kind in ("rack", "feed", "leaf", "nvlink", "pool") if kind in event), "")
            names = nodes_of(self.simulation, f"{kind}={event[kind]}") if kind else list(world.machines)
        return list(world.some(names))

    def after(self, event: Event, what: Callable[[], None]) -> None:
        """Do something when what the event says has lasted long enough."""
        if "lasts" in event:
            self.simulation.world.agenda.after(seconds(event["lasts"]), what)
