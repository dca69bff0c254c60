"""Jobs of a simulated scheduler: they start where all their nodes are open, end, are requeued, or die with a node."""

from __future__ import annotations

from fleet.model.ids import NodeId
from fleet.sim.world import Work, World


def submit(world: World, job: Work, *, running: bool) -> None:
    """A job comes. `running` puts it onto its nodes at once, as one that was there already."""
    world.jobs[job.id] = job
    if running:
        _start(world, job)
    else:
        world.waiting[job.id] = job
        start_waiting(world)


def start_waiting(world: World) -> None:
    """Start every waiting job whose nodes are all open and free. On a node that does not answer it dies at once."""
    if world.scheduler_silent:
        return
    for job in list(world.waiting.values()):
        if job.id not in world.waiting:
            continue  # started meanwhile, by the end of another one
        machines = list(world.some(job.nodes))
        closed = any(machine.holds or machine.removed for machine in machines)
        busy = any(world.jobs_on(machine.id) for machine in machines)
        known_down = any(_known_down(machine.says) for machine in machines)
        if closed or busy or known_down or len(machines) < len(job.nodes):
            continue
        if any(not machine.powered or not machine.up for machine in machines):
            continue  # the scheduler sees that they are down
        del world.waiting[job.id]
        _start(world, job)
        if any(machine.broken or not machine.network for machine in machines):
            stop(world, job, "failed")


def _known_down(says: str) -> bool:
    return "down" in says.lower() or "NOT_RESPONDING" in says


def _start(world: World, job: Work) -> None:
    job.state, job.turn = "running", job.turn + 1
    for node in job.nodes:
        world.placed.setdefault(node, []).append(job)
    job.began = world.now
    job.saved = max(job.saved, world.now) if job.preempted else job.saved
    turn = job.turn
    if job.runs is not None:
        world.agenda.after(job.runs, lambda: _end(world, job, turn))


def _end(world: World, job: Work, turn: int) -> None:
    if job.state == "running" and job.turn == turn:
        stop(world, job, "finished")


def stop(world: World, job: Work, how: str) -> None:
    """A job leaves its nodes for good."""
    _leave(world, job, how)
    start_waiting(world)


def _leave(world: World, job: Work, state: str) -> None:
    for node in job.nodes:
        if job in (there := world.placed.get(node, [])):
            there.remove(job)
    job.state = state
    job.turn += 1
    if state == "queued":
        world.waiting[job.id] = job


def requeue(world: World, node: NodeId) -> None:
    """The scheduler takes the jobs off a node and queues them again; people's processes there are ended."""
    for job in world.jobs_on(node):
        unsaved = max(0.0, world.now - job.saved)
        job.lost += unsaved
        if job.runs is not None:
            job.runs = max(0.0, job.runs - max(0.0, world.now - job.began - unsaved))
        job.preempted += 1
        _leave(world, job, "queued")
    machine = world.machines[node]
    machine.holders = [holder for holder in machine.holders if holder.service]


def tear_down(world: World, node: NodeId) -> None:
    """A disruptive verb begins on a node: what still runs there dies."""
    for job in world.jobs_on(node):
        job.killed += 1
        world.violations.append(f"{job.id} was killed on {node}")
        stop(world, job, "failed")


def checkpoint(world: World, job: Work) -> None:
    """The job has saved its work."""
    job.saved = world.now
