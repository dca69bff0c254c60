"""What verbs do to a simulated fleet: how long they take, what they change, what becomes of them when power fails.

Verbs are rows: DURATIONS, and EFFECTS with what a verb changes when it really happens. The node-side wrapper is part of
this world, since on real nodes it is part of the node: it refuses a lower token and a second run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from fleet.lifecycle.table import LADDER
from fleet.model.health import Severity
from fleet.model.ids import FLEET, NodeId, Verb
from fleet.model.order import Again, Done, Failed, Lost, Outcome
from fleet.model.plan import Step
from fleet.model.release import Release
from fleet.sim import work
from fleet.sim.world import DISRUPTS, MUTATES, ON_NODE, Begun, Claim, Fault, Machine, RunningStep, World

MINUTE = 60.0

DURATIONS: Mapping[Verb, float] = {
    Verb.CORDON: 0,
    Verb.UNCORDON: 0,
    Verb.DRAIN: 0,
    Verb.STAGE: 0,
    Verb.RMA: 0,
    Verb.RESTART_SERVICE: MINUTE,
    Verb.CORRECT_LIVE: MINUTE,
    Verb.REVOKE: MINUTE,
    Verb.POWER_OFF: MINUTE,
    Verb.RESET_GPU: 2 * MINUTE,
    Verb.DELETE: 2 * MINUTE,
    Verb.RELOAD_DRIVER: 3 * MINUTE,
    Verb.EXPORT: 5 * MINUTE,
    Verb.CREATE: 5 * MINUTE,
    Verb.REBOOT: 8 * MINUTE,
    Verb.CONVERGE: 10 * MINUTE,
    Verb.REVERT: 10 * MINUTE,
    Verb.POWER_CYCLE: 10 * MINUTE,
    Verb.FLASH: 15 * MINUTE,
    Verb.VERIFY: 15 * MINUTE,
    Verb.REIMAGE: 40 * MINUTE,
    Verb.WIPE: 120 * MINUTE,
}

BOOTS = frozenset({Verb.REBOOT, Verb.POWER_CYCLE, Verb.REIMAGE})
OVER_SSH = (ON_NODE | {Verb.VERIFY, Verb.EXPORT, Verb.STAGE}) - {Verb.FLASH}
OF_SCHEDULER = frozenset({Verb.CORDON, Verb.UNCORDON, Verb.DRAIN})
LOADS_DRIVER = frozenset({Verb.REBOOT, Verb.RELOAD_DRIVER})

Heard = Callable[[Outcome], None]


def flashed(release: Release) -> dict[str, str]:
    """The parts of a release that no package carries: they are flashed."""
    carried = {package.part for package in release.packages}
    return {part: version for part, version in release.versions.items() if part not in carried}


def installed(release: Release) -> dict[str, str]:
    """The parts of a release that its packages carry."""
    apart = flashed(release)
    return {part: version for part, version in release.versions.items() if part not in apart}


def begin(world: World, step: Step, token: int, release: Release | None, heard: Heard) -> RunningStep | None:
    """Carry a step out in the world. `heard` is told its outcome if somebody is still there to hear it."""
    machine = world.machines[step.node]
    refused = _refused(machine, step, token, world.scheduler_silent)
    begun = _note(world, machine, step)
    if refused is not None:
        heard(refused)
        return None
    machine.token = max(machine.token, token)
    answer = world.answers.take(step.verb, step.node)
    takes = answer.takes if answer is not None and answer.takes is not None else _duration(world, step.verb)
    run = RunningStep(step, token, world.now, world.now + takes, release, answer, begun.index)
    if step.verb in DISRUPTS:
        machine.proved = False
        work.tear_down(world, machine.id)
        _stop_services(world, machine)
    machine.runs.append(run)
    world.took[machine.id] = world.took.get(machine.id, 0.0) + takes
    if step.verb in BOOTS and (answer is None or answer.acts):
        machine.up = False
    if takes:
        world.agenda.after(takes, lambda: finish(world, machine, run, heard))
    else:
        finish(world, machine, run, heard)
    return run


def _duration(world: World, verb: Verb) -> float:
    factor = 1.0
    if world.jitter and DURATIONS[verb]:
        factor = world.jitter.pop(0)
        world.jitter.append(factor)
    return world.durations.get(verb, DURATIONS[verb]) * factor


def _refused(machine: Machine, step: Step, token: int, silent: bool) -> Outcome | None:
    """What stands in the way before anything happens: the wire, or the wrapper on the node."""
    if machine.removed:
        return Failed("the machine is gone")
    if step.verb in OF_SCHEDULER and silent:
        return Failed("the scheduler gave no answer")
    if step.verb in OVER_SSH and not machine.reachable:
        return Again(timedelta(seconds=30), "unreachable over SSH")
    if step.verb in ON_NODE and machine.reachable:
        if token < machine.token:
            return Failed(f"the node saw token {machine.token}, and {token} is lower")
        if machine.lock:
            return Again(timedelta(seconds=30), f"a step of {machine.lock} runs on the node")
    return None


def _note(world: World, machine: Machine, step: Step) -> Begun:
    """Write down that a step began: the evidence for statements about verbs."""
    beside = sum(run.step.verb in MUTATES for run in machine.runs)
    jobs = tuple(job.id for job in world.jobs_on(machine.id))
    people = tuple(holder.what for holder in machine.holders if not holder.service and holder.up)
    begun = Begun(
        at=world.now,
        index=len(world.begun),
        verb=step.verb,
        node=machine.id,
        order=step.order,
        purpose=step.purpose,
        first=step.order not in world.orders_seen,
        jobs=jobs,
        work=jobs + people,
        force=step.force,
        was_in=machine.in_service,
        opened=step.verb is Verb.UNCORDON and all(hold.owner == FLEET for hold in machine.holds),
        beside=beside,
        closed_by=tuple(hold.owner for hold in machine.holds),
        proved=machine.proved,
        evident=any(fault.severity is Severity.FATAL for fault in machine.faults),
        blind=world.scheduler_silent or not machine.reachable,
    )
    world.begun.append(begun)
    world.orders_seen.add(step.order)
    if step.verb in MUTATES:
        world.most_beside[machine.id] = max(world.most_beside.get(machine.id, 0), beside + 1)
    return begun


def finish(world: World, machine: Machine, run: RunningStep, heard: Heard) -> None:
    """A step comes to its end, unless something ended it before."""
    if run not in machine.runs:
        return
    machine.runs.remove(run)
    verb, answer = run.step.verb, run.answer
    if verb in BOOTS and machine.powered and not machine.up:
        boot(world, machine)
    if answer is None or answer.acts:
        world.acted.add(run.index)
        EFFECTS.get(verb, _nothing)(world, machine, run)
        if verb in LADDER:
            cure(world, machine, verb)
    elif answer.really not in ("", "nothing"):
        PARTLY.get(verb, _nothing)(world, machine, run)
    if verb in DISRUPTS:
        _start_services(machine)
    if run.alive:
        heard(_outcome(world, machine, run))


def _outcome(world: World, machine: Machine, run: RunningStep) -> Outcome:
    verb, answer = run.step.verb, run.answer
    if verb in OVER_SSH and not machine.reachable:
        return Lost("the connection broke")
    if verb is Verb.VERIFY and (answer is None or answer.good):
        why = unfit(world, machine)
        machine.proved = machine.proved or not why
        return Failed(why) if why else Done("fit", _figures(run))
    if answer is None or answer.good:
        return Done("" if answer is None else answer.why)
    match answer.says:
        case "exit_143" | "lost":
            return Lost("exit 143" if answer.says == "exit_143" else "the connection broke")
        case "in_use":
            return Again(timedelta(minutes=1), answer.why or "in use")
        case _:
            return Failed(answer.why or "failed")


def _figures(run: RunningStep) -> dict[str, str]:
    return {name: f"{value:g}" for name, value in run.answer.figure.items()} if run.answer is not None else {}


def unfit(world: World, machine: Machine) -> str:
    """What a verify finds wrong on a node; empty when it is fit."""
    for fault in machine.faults:
        if fault.real and fault.severity is not Severity.WATCH:
            return f"{fault.what} {fault.device}".strip()
    if machine.corrupt:
        return f"{min(machine.corrupt)} is not the pinned file"
    if machine.expected_devices and machine.devices < machine.expected_devices:
        return f"{machine.devices} of {machine.expected_devices} devices"
    if machine.facts.get("fabric_status", "Success") not in ("Success", "N/A", "unreadable"):
        return f"fabric: {machine.facts['fabric_status']}"
    if any(version == "" for version in machine.shown.values()):
        return "no driver loaded"
    for release in world.bad:
        if machine.shows(world.declared.releases[release]):
            return f"the burn-in under {release} does not reach its figures"
    return ""


def boot(world: World, machine: Machine) -> None:
    """The machine comes up anew: what is on disk now runs."""
    machine.boots += 1
    machine.booted_at = world.now
    machine.up = True
    machine.shown.update(machine.installed)


def cure(world: World, machine: Machine, rung: Verb) -> None:
    """A rung mends the faults for which it is high enough, unless the next verify is answered that it did not."""
    following = world.answers.peek(Verb.VERIFY, machine.id)
    if following is not None and not following.good:
        return
    mended = [fault for fault in machine.faults if _mends(world, fault, rung)]
    machine.faults = [fault for fault in machine.faults if fault not in mended]
    missing = world.cures.get("device_missing")
    if any(fault.what in ("gpu_lost", "xid_79", "device_missing") for fault in mended) or (
        missing is not None and LADDER.index(rung) >= LADDER.index(missing)
    ):
        machine.devices = machine.expected_devices


def _mends(world: World, fault: Fault, rung: Verb) -> bool:
    first = world.cures.get(fault.what)
    return first is not None and LADDER.index(rung) >= LADDER.index(first)


def power_off(world: World, machine: Machine) -> None:
    """Electricity goes: what ran is cut, jobs die, packages stay."""
    machine.up = False
    for run in list(machine.runs):
        machine.runs.remove(run)
        run.answer = None
        run.alive = False
    for job in world.jobs_on(machine.id):
        work.stop(world, job, "failed")


def power_on(world: World, machine: Machine) -> None:
    """Electricity is back: the machine boots by itself."""

    def up() -> None:
        if machine.powered and not machine.up:
            boot(world, machine)
            work.start_waiting(world)

    world.agenda.after(world.boot_seconds, up)


def _stop_services(world: World, machine: Machine) -> None:
    for holder in machine.holders:
        if holder.service and holder.what in world.services:
            holder.up = False


def _start_services(machine: Machine) -> None:
    for holder in machine.holders:
        if holder.service:
            holder.up = True


def _nothing(world: World, machine: Machine, run: RunningStep) -> None:
    """A verb that changes nothing which can be seen."""


def _cordon(world: World, machine: Machine, run: RunningStep) -> None:
    if not machine.ours:
        machine.holds.append(Claim(FLEET, f"fleet: {run.step.order}", world.now, run.step.order))


def _uncordon(world: World, machine: Machine, run: RunningStep) -> None:
    machine.holds = [hold for hold in machine.holds if hold.owner != FLEET]
    work.start_waiting(world)


def _drain(world: World, machine: Machine, run: RunningStep) -> None:
    if run.step.force:
        work.requeue(world, machine.id)


def _install(world: World, machine: Machine, run: RunningStep) -> None:
    release = run.release
    if release is None:
        return
    machine.packages.update({package.name: package.version for package in release.packages})
    parts = installed(release)
    machine.installed.update(parts)
    machine.corrupt.clear()
    if not LOADS_DRIVER & set(release.needs):
        machine.shown.update(parts)


def _install_partly(world: World, machine: Machine, run: RunningStep) -> None:
    """The kernel is installed and the module is not: after this nothing works until the old release is back."""
    if run.release is not None:
        kernel = {part: version for part, version in run.release.versions.items() if part == "kernel"}
        machine.packages.update({p.name: p.version for p in run.release.packages if p.part == "kernel"})
        machine.installed.update(kernel)
        machine.installed["driver"] = ""


def _reload(world: World, machine: Machine, run: RunningStep) -> None:
    for part, version in machine.installed.items():
        if part != "kernel":
            machine.shown[part] = version


def _flash(world: World, machine: Machine, run: RunningStep) -> None:
    if run.release is not None:
        machine.shown.update(flashed(run.release))


def _reimage(world: World, machine: Machine, run: RunningStep) -> None:
    _install(world, machine, run)
    _reload(world, machine, run)
    machine.shown.update(machine.installed)


def _switch_off(world: World, machine: Machine, run: RunningStep) -> None:
    machine.switched_on = False
    power_off(world, machine)


def _export(world: World, machine: Machine, run: RunningStep) -> None:
    machine.exported = True


def _wipe(world: World, machine: Machine, run: RunningStep) -> None:
    machine.wiped = True


def _revoke(world: World, machine: Machine, run: RunningStep) -> None:
    machine.revoked = True


EFFECTS: Mapping[Verb, Callable[[World, Machine, RunningStep], None]] = {
    Verb.CORDON: _cordon,
    Verb.UNCORDON: _uncordon,
    Verb.DRAIN: _drain,
    Verb.CONVERGE: _install,
    Verb.REVERT: _install,
    Verb.RELOAD_DRIVER: _reload,
    Verb.FLASH: _flash,
    Verb.REIMAGE: _reimage,
    Verb.POWER_OFF: _switch_off,
    Verb.EXPORT: _export,
    Verb.WIPE: _wipe,
    Verb.REVOKE: _revoke,
}

PARTLY: Mapping[Verb, Callable[[World, Machine, RunningStep], None]] = {Verb.CONVERGE: _install_partly}


def release_of(world: World, node: NodeId) -> Release | None:
    """The release that git names for a node."""
    declared = world.declared.nodes.get(node)
    return world.declared.releases.get(world.declared.target(declared)) if declared is not None else None
