"""Which nodes a person means, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.app import Fleet
from fleet.model.ids import NodeId
from fleet.model.observation import Observed
from fleet.model.plan import Plan
from fleet.model.topology import Declared
from fleet.render.standing import Standing, phases, standings
from fleet.spec.nodesets import resolve


def choose(fleet: Fleet, texts: Sequence[str]) -> tuple[NodeId, ...]:
    """The nodes of a node set; the fleet is looked at only where a phase is named."""
    return resolve(texts, fleet.declared(), lambda: phases(standing(fleet)[3]))


def standing(fleet: Fleet) -> tuple[Declared, Observed, Plan, dict[NodeId, Standing]]:
    """A fresh look, what would be decided on it, and where each node stands. Changes nothing."""
    declared, observed, plan = fleet.controller().decide()
    return declared, observed, plan, standings(declared, observed, plan)
