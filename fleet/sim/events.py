"""What happens to a fleet in a decision scenario: one function per event of the vocabulary, in the table EVENTS."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fleet.errors import Misuse
from fleet.model.health import Severity
from fleet.model.ids import NodeId, Verb
from fleet.model.observation import Hold
from fleet.sim import people, physics, work
from fleet.sim.answers import Answer
from fleet.sim.claims import nodes_of
from fleet.sim.declare import declared, named, seconds
from fleet.sim.run import Simulation
from fleet.sim.stage import Event, Stage
from fleet.sim.world import Claim, Fault, Holder, Machine, Work


def cordon(stage: Stage, event: Event) -> None:
    for machine in stage.machines(event):
        machine.holds.append(Claim(str(event["by"]), str(event.get("reason", "")), stage.simulation.world.now))


def uncordon(stage: Stage, event: Event) -> None:
    for machine in stage.machines(event):
        mine = machine.holds_of(str(event["by"]))
        gone = mine or machine.holds
        stage.simulation.world.lifted.setdefault(machine.id, set()).update(hold.owner for hold in gone)
        machine.holds = [hold for hold in machine.holds if hold not in gone]
    work.start_waiting(stage.simulation.world)


def mark(stage: Stage, event: Event) -> None:
    for machine in stage.machines(event):
        machine.marks.append((str(event["by"]), str(event["text"])))


def edit(stage: Stage, event: Event) -> None:
    raw = copy.deepcopy(stage.raw)
    for path, value in event["set"].items():
        _set(raw, str(path), value)
        if str(path).startswith("disposition.") and value == "retired":
            for node in named(str(path).partition(".")[2]):
                raw.setdefault("confirmed", {})[node] = event.get("by", "")
    try:
        stage.simulation.world.declared = _pinned(stage, raw)
    except (Misuse, ValueError) as error:
        for path in event["set"]:
            pool = str(path).rpartition(".")[2]
            stage.notes.refused[f"pool={pool}"] = "invalid_policy"
        stage.simulation.ledger.note(None, str(event.get("by", "")), "edit refused", str(error), _now(stage))
        return
    stage.raw = raw


def _set(raw: dict[str, Any], path: str, value: object) -> None:
    *way, last = path.split(".")
    place = raw
    for step in way:
        if isinstance(place.get(step), Mapping):
            place = place[step]
        elif step in place:  # `budget.pool: 2` becomes one number for each pool before one of them is set
            place[step] = dict.fromkeys(raw["pools"], place[step])
            place = place[step]
        else:
            place = place.setdefault(step, {})
    place[last] = value


def _pinned(stage: Stage, raw: Mapping[str, Any]) -> Any:
    """The new declaration; racks are where machines stand, whatever pool they are in."""
    made = declared(raw)
    gone = {machine.id for machine in stage.simulation.world.machines.values() if machine.removed}
    return replace(made, nodes={node: entry for node, entry in made.nodes.items() if node not in gone})


def _now(stage: Stage) -> Any:
    return stage.simulation.clock.now()


def signal(stage: Stage, event: Event) -> None:
    world = stage.simulation.world
    age = seconds(event["age"]) if "age" in event else 0.0
    device = str(event.get("device", f"gpu{event['gpu']}" if "gpu" in event else ""))
    for machine in stage.machines(event):
        world.ever_sick.add(machine.id)
        machine.faults.append(
            Fault(
                what=str(event["what"]),
                severity=Severity(event["severity"]),
                at=world.now - age,
                device=device,
                text=str(event.get("text", "")),
                real=not event.get("spurious", False) and age < world.now - machine.booted_at,
            )
        )


def signal_ends(stage: Stage, event: Event) -> None:
    for machine in stage.machines(event):
        machine.faults = [fault for fault in machine.faults if fault.what != event["what"]]


def fact(stage: Stage, event: Event) -> None:
    for machine in stage.machines(event):
        put_facts(stage.simulation, machine, event)


def put_facts(simulation: Simulation, machine: Machine, facts: Mapping[str, Any]) -> None:
    """Something that can be read from a node changes."""
    for name, value in facts.items():
        match name:
            case "at" | "event" | "node":
                continue
            case "devices":
                machine.devices = int(value)
                simulation.world.ever_sick.add(machine.id)
            case "booted":
                machine.booted_at = simulation.world.now - seconds(str(value).removesuffix(" ago"))
            case _ if name in machine.shown and value != "unreadable":
                machine.shown[name] = str(value)
                if name in machine.installed:
                    machine.installed[name] = str(value)
                machine.facts.pop(name, None)
            case _:
                machine.facts[name] = value
                if name == "kernel":
                    machine.shown.setdefault("kernel", str(value))


def drift(stage: Stage, event: Event) -> None:
    part, version = str(event["part"]), str(event["to"])
    for machine in stage.machines(event):
        machine.installed[part] = version
        if part in machine.packages:
            machine.packages[part] = version


def corrupt(stage: Stage, event: Event) -> None:
    for machine in stage.machines(event):
        machine.corrupt.add(str(event["what"]))


def artifact(stage: Stage, event: Event) -> None:
    """A build of a part appears: the releases that carry the part list it from now on."""
    part, _, version = str(event["part"]).partition(" ")
    kernel = str(event["for"]).removeprefix("kernel ")
    for entry in stage.raw["release"].values():
        if str(entry.get(part)) == version and "built_for" in entry:
            entry["built_for"].append(kernel)
    stage.simulation.world.declared = _pinned(stage, stage.raw)


def job(stage: Stage, event: Event) -> None:
    world = stage.simulation.world
    runs = None if str(event["runs"]) == "endless" else seconds(event["runs"])
    found = Work(str(event["id"]), tuple(machine.id for machine in stage.machines(event)), runs)
    found.saved = world.now - (seconds(event["checkpoint_age"]) if "checkpoint_age" in event else 0.0)
    work.submit(world, found, running=not event.get("queued", False))


def job_ends(stage: Stage, event: Event) -> None:
    found = stage.simulation.world.jobs[str(event["id"])]
    if found.state == "running":
        work.stop(stage.simulation.world, found, str(event.get("how", "finished")))


def holder(stage: Stage, event: Event) -> None:
    for machine in stage.machines(event):
        found = Holder(str(event["what"]), service=event["kind"] == "service")
        machine.holders.append(found)
        if str(event["ends"]) != "never":
            stage.simulation.world.agenda.after(seconds(event["ends"]), _goes(machine, found))


def _goes(machine: Machine, gone: Holder) -> Callable[[], None]:
    def go() -> None:
        machine.holders = [holder for holder in machine.holders if holder is not gone]

    return go


def answer(stage: Stage, event: Event) -> None:
    nodes = [machine.id for machine in stage.machines(event)] if "job" not in event else []
    if "node" in event:
        nodes = [NodeId(node) for text in named(event["node"]) for node in nodes_of(stage.simulation, text)] or nodes
    stage.simulation.world.answers.add(
        Answer(
            verb=str(event["verb"]),
            nodes=frozenset(nodes),
            says=str(event["with"]),
            really=str(event.get("really", "")),
            takes=seconds(event["takes"]) if "takes" in event else None,
            times=event.get("times"),
            why=str(event.get("why", "")),
            job=str(event.get("job", "")),
            figure=dict(event.get("figure", {})),
        )
    )


def unreachable(stage: Stage, event: Event) -> None:
    for machine in stage.machines(event):
        machine.network = False
    stage.after(event, lambda: reachable(stage, event))


def reachable(stage: Stage, event: Event) -> None:
    for machine in stage.machines(event):
        machine.network = True
    work.start_waiting(stage.simulation.world)


def power_lost(stage: Stage, event: Event) -> None:
    for machine in stage.machines(event):
        machine.feed = False
        physics.power_off(stage.simulation.world, machine)
    stage.after(event, lambda: power_back(stage, event))


def power_back(stage: Stage, event: Event) -> None:
    for machine in stage.machines(event):
        machine.feed = True
        physics.power_on(stage.simulation.world, machine)


def scheduler(stage: Stage, event: Event) -> None:
    world = stage.simulation.world
    if "node" not in event:
        world.scheduler_silent = True

        def answers_again() -> None:
            world.scheduler_silent = False
            work.start_waiting(world)

        stage.after(event, answers_again)
        return
    machines, said = stage.machines(event), str(event["says"])
    for machine in machines:
        machine.says = said

    def truth_again() -> None:
        for machine in machines:
            if machine.says == said:
                machine.says = ""
        work.start_waiting(world)

    stage.after(event, truth_again)


def controller_on(stage: Stage, event: Event) -> None:
    stage.simulation.home = NodeId(str(event["node"]))


def controller_killed(stage: Stage, event: Event) -> None:
    stage.simulation.kill_controller()


def controller_started(stage: Stage, event: Event) -> None:
    stage.simulation.start_controller()


def worker_killed(stage: Stage, event: Event) -> None:
    world, engine = stage.simulation.world, stage.simulation.engine
    node, verb = NodeId(str(event["node"])), Verb(str(event["verb"]))
    run = engine.lose(node, verb) if engine is not None else None
    if run is None:
        return
    machine = world.machines[node]
    if event["leaves"] == "nothing":
        machine.runs.remove(run)
    elif "until" in event:
        machine.runs.remove(run)
        left = replace(run, ends=seconds(event["until"]))
        machine.runs.append(left)
        world.agenda.at(left.ends, lambda: physics.finish(world, machine, left, lambda _: None))


def clock_jump(stage: Stage, event: Event) -> None:
    stage.simulation.clock.ahead += seconds(event["by"])


def stop(stage: Stage, event: Event) -> None:
    """`fleet stop`: nothing new starts."""
    nodes = tuple(machine.id for machine in stage.machines(event)) if "node" in event else ()
    stage.simulation.ledger.hold(
        Hold("stop", nodes, str(event.get("by", "")), str(event.get("reason", "")), _now(stage))
    )


def go(stage: Stage, event: Event) -> None:
    """`fleet go`."""
    nodes = tuple(machine.id for machine in stage.machines(event)) if "node" in event else ()
    stage.simulation.ledger.lift("stop", nodes, str(event.get("by", "")), "", _now(stage))


def hands(stage: Stage, event: Event) -> None:
    """A person has mended the node, and says so to fleet."""
    simulation = stage.simulation
    for machine in stage.machines(event):
        machine.faults = []
        machine.corrupt.clear()
        machine.devices = machine.expected_devices
        simulation.given(machine.id, str(event.get("by", "somebody")), str(event["did"]))


def removed(stage: Stage, event: Event) -> None:
    for machine in stage.machines(event):
        machine.removed = True
        physics.power_off(stage.simulation.world, machine)
    stage.simulation.world.declared = _pinned(stage, stage.raw)


def rule_revoked(stage: Stage, event: Event) -> None:
    for machine in stage.simulation.world.machines.values():
        machine.faults = [fault for fault in machine.faults if fault.what != event["what"]]


def not_yet(stage: Stage, event: Event) -> None:
    """Burst capacity is not simulated yet."""
    raise Misuse(f"the event {event['event']!r}", "burst capacity is not simulated yet", "leave it out")


EVENTS: Mapping[str, Callable[[Stage, Event], None]] = {
    "answer": answer,
    "approve": people.approve_plan,
    "artifact": artifact,
    "clock_jump": clock_jump,
    "controller_killed": controller_killed,
    "controller_on": controller_on,
    "controller_started": controller_started,
    "cordon": cordon,
    "corrupt": corrupt,
    "demand": not_yet,
    "drift": drift,
    "edit": edit,
    "end": lambda stage, event: None,
    "fact": fact,
    "go": go,
    "hands": hands,
    "holder": holder,
    "instance": not_yet,
    "job": job,
    "job_ends": job_ends,
    "mark": mark,
    "plan": people.show_plan,
    "power_back": power_back,
    "power_lost": power_lost,
    "reachable": reachable,
    "removed": removed,
    "resume": people.resume_rollout,
    "rollout": people.order_rollout,
    "rule_revoked": rule_revoked,
    "scheduler": scheduler,
    "signal": signal,
    "signal_ends": signal_ends,
    "stop": stop,
    "uncordon": uncordon,
    "unreachable": unreachable,
    "worker_killed": worker_killed,
}
