"""What must hold when a story is over and the world has been quiet for hours."""

from __future__ import annotations

from fleet.model.ids import NodeId
from fleet.model.topology import Disposition
from fleet.sim.run import Simulation


def unexplained(simulation: Simulation) -> list[str]:
    """Nodes that are neither as declared, nor worked on, nor held with a reason; and slots that are kept in silence."""
    world, last = simulation.world, simulation.last
    assert last is not None
    held = {each.node for each in last.held}
    orders = simulation.ledger.orders
    found = []
    for node in world.declared.nodes.values():
        machine = world.machines[node.id]
        if machine.ours and node.id not in orders:
            found.append(f"{node.id} is closed by us, and no order says why")
        if _as_declared(simulation, node.id) or node.id in held or machine.runs:
            continue
        found.append(f"{node.id} is not as declared, and nothing says why: {machine.shown}, {machine.holds}")
    return found


def _as_declared(simulation: Simulation, name: NodeId) -> bool:
    world = simulation.world
    node, machine = world.declared.nodes[name], world.machines[name]
    if node.disposition is Disposition.PARKED:
        return not machine.ours
    foreign = [hold for hold in machine.holds if hold.owner != "fleet"]
    return machine.shows(world.declared.releases[world.declared.target(node)]) and (machine.in_service or bool(foreign))
