"""What people do beside the machines: order rollouts, look at plans, approve, resume, mend."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from fleet.model.ids import NodeId, PoolId, ReleaseId
from fleet.model.order import RolloutState
from fleet.model.plan import RolloutPlan
from fleet.model.topology import Declared
from fleet.planning.preview import preview
from fleet.sim.claims import nodes_of
from fleet.sim.declare import declared
from fleet.sim.stage import Event, Stage


def _target(stage: Stage, event: Event) -> tuple[str, list[NodeId], PoolId]:
    """The set that a person names, its nodes, and their pool."""
    kind = next(kind for kind in ("pool", "rack", "nvlink", "node") if kind in event)
    text = f"{kind}={event[kind]}" if kind != "node" else str(event[kind])
    nodes = nodes_of(stage.simulation, text)
    return text, nodes, stage.simulation.world.declared.nodes[nodes[0]].pool


def order_rollout(stage: Stage, event: Event) -> None:
    """A person declares a release for a set, looks at the plan, and begins it unless it is refused."""
    simulation = stage.simulation
    text, nodes, pool = _target(stage, event)
    wanted, by = ReleaseId(str(event["to"])), str(event.get("by", "operator"))
    raw = copy.deepcopy(stage.raw)
    if text.startswith("pool="):
        raw["pools"][pool]["release"] = wanted
    else:
        for node in nodes:
            raw.setdefault("nodes", {}).setdefault(node, {})["release"] = wanted
    made = replace(declared(raw), nodes=_here(declared(raw), simulation.world.declared))
    shown = _preview(stage, made, pool, wanted, nodes)
    stage.notes.plans[text] = shown
    if shown.refused is not None:
        stage.notes.refused[text] = shown.refused.reason
        return
    stage.notes.refused[text] = "none"
    stage.raw = raw
    simulation.world.declared = made
    concerned = {node.id for node in made.nodes.values() if node.id in nodes and node.disposition == "in_service"}
    going = [node for node in nodes if node in concerned]
    if going:
        simulation.order_rollout(wanted, going, by, plan=shown.identity)


def _here(made: Declared, before: Declared) -> dict[NodeId, Any]:
    return {node: entry for node, entry in made.nodes.items() if node in before.nodes}


def _preview(stage: Stage, made: Declared, pool: PoolId, release: ReleaseId, nodes: list[NodeId]) -> RolloutPlan:
    apart = [node.id for node in made.nodes.values() if node.pool == pool and node.id not in nodes]
    canaries = [node for node in made.pools[pool].policy.canary_nodes if node in nodes]
    return preview(made, stage.simulation.look(), pool, release, exclude=apart, canary=canaries)


def resume_rollout(stage: Stage, event: Event) -> None:
    """A person lets a halted rollout go on."""
    simulation = stage.simulation
    halted = (RolloutState.HALTED, RolloutState.REVERTED, RolloutState.PAUSED)
    for rollout in list(simulation.ledger.rollouts.values()):
        if rollout.state in halted:
            simulation.ledger.resume(rollout.id, str(event.get("by", "")), simulation.clock.now())


def show_plan(stage: Stage, event: Event) -> None:
    """A plan is shown, and keeps its name."""
    shown = present(stage, event)
    if shown is not None:
        stage.notes.named_plans[str(event["as"])] = (_target(stage, event)[0], shown)
        stage.notes.plans[_target(stage, event)[0]] = shown


def present(stage: Stage, event: Event) -> RolloutPlan | None:
    """The plan of a set's open rollout as it would be shown now."""
    _, nodes, pool = _target(stage, event)
    rollouts = [r for r in stage.simulation.ledger.rollouts.values() if r.pool == pool]
    if not rollouts:
        return None
    return _preview(stage, stage.simulation.world.declared, pool, rollouts[-1].release, nodes)


def approve_plan(stage: Stage, event: Event) -> None:
    """A person approves a plan by its name; it counts only while the plan would come out the same."""
    name, by, simulation = str(event["plan"]), str(event["by"]), stage.simulation
    text, shown = stage.notes.named_plans[name]
    kind, _, value = text.partition("=")
    now = present(stage, {kind: value})
    stage.notes.approved[name] = by
    if now is None or now.identity != shown.identity:
        stage.notes.stale.add(name)
    simulation.ledger.approve(shown.identity, by, "", simulation.clock.now())
