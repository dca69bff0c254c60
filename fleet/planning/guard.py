"""The last look at a plan: steps that a never forbids are taken out, whatever the planner thought.

The planner should never draw up such a step; the guard is a second, simpler statement of the same rules about the
fleet, so that one mistake is not enough. What it removes is held, and named as a fault of ours.
"""

from __future__ import annotations

from dataclasses import replace

from fleet.lifecycle.fold import holding, wiped
from fleet.lifecycle.table import DISRUPTIVE
from fleet.model.ids import Because, Verb
from fleet.model.observation import Observed
from fleet.model.plan import Held, OrderOpened, Plan, Step
from fleet.model.policy import Policy
from fleet.model.topology import Declared
from fleet.planning.capacity import survey


def guard(plan: Plan, declared: Declared, observed: Observed) -> Plan:
    """The plan without the steps that break a never; each of them becomes held."""
    if not plan.steps:
        return plan
    capacity = survey(declared, observed)
    kept: list[Step] = []
    removed: list[Held] = []
    touched: set[str] = set()
    for step in plan.steps:
        node = declared.nodes[step.node]
        policy = declared.pools[node.pool].policy
        why = _breaks(step, observed, touched, policy)
        if not why and step.verb is Verb.CORDON and not _broken(step, observed):
            full = capacity.blocks(node, policy)
            why = full.text if full is not None else ""
            capacity.take(node, step.order)
        if why:
            removed.append(Held(step.node, step.purpose, Because.ORDER_OPEN, (step.order,), f"guard: {why}"))
        else:
            kept.append(step)
            touched.add(step.node)
    if not removed:
        return plan
    gone = {held.names[0] for held in removed}
    changes = tuple(c for c in plan.changes if not (isinstance(c, OrderOpened) and c.order in gone))
    return replace(plan, steps=tuple(kept), held=(*plan.held, *removed), changes=changes)


def _broken(step: Step, observed: Observed) -> bool:
    case = observed.records.cases.get(step.node)
    return case is not None and case.open and case.severity == "fatal"


def _breaks(step: Step, observed: Observed, touched: set[str], policy: Policy) -> str:
    seen = observed.nodes.get(step.node)
    if step.node in touched:
        return "two verbs on one node in one pass"
    order = observed.records.orders.get(step.node)
    if step.verb in DISRUPTIVE and not step.force and not (order is not None and wiped(order)):
        if seen is None or seen.has_work is not False:
            return f"{step.verb} on a node that has work, or whose work was not seen"
        holders = holding(seen, policy)
        if holders:
            return f"{step.verb} while {', '.join(holders)} holds an accelerator"
        if not seen.ours:
            return f"{step.verb} on a node that we have not closed"
    if step.verb is Verb.UNCORDON and (seen is None or not seen.ours):
        return "we hold no cordon there"
    if order is not None and order.running is not None:
        return f"{order.running.verb} has begun there and has no end"
    return ""
