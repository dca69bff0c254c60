"""How far an order got, and what comes next: judged by what the node shows, not by what we last wrote.

`look` says how a step without an end really ended (after a crash, a lost worker). `advance` gives the next verb of an
order's route, or that it waits, is finished, or can't go on. `phase` names where a node is. All three are pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from fleet.lifecycle.table import DISRUPTIVE, OVER_SSH, PHASES, ROUTES, Stage
from fleet.model.health import Case
from fleet.model.ids import Because, Phase, Purpose, Verb
from fleet.model.observation import Enrolment, NodeSeen, Power
from fleet.model.order import Result, StepRecord, WorkOrder
from fleet.model.policy import Policy
from fleet.model.release import Release


@dataclass(frozen=True, slots=True)
class Next:
    """The verb that the route asks for."""

    verb: Verb
    stage: Stage


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do but wait; `names` are what we wait for."""

    reason: Because
    stage: Stage
    names: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """The route is walked."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """A verb has failed as often as it may; `verb` is the one. `no_effect`: it was answered as done, and wasn't."""

    verb: Verb
    why: str
    no_effect: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """What a stage is judged by. `release` is the order's target, or the one to go back to while it reverts."""

    order: WorkOrder
    seen: NodeSeen
    release: Release | None
    policy: Policy
    now: datetime
    case: Case | None = None


Way = Next | Wait | Finished | Stuck


@dataclass(frozen=True, slots=True)
class Looked:
    """How a step without an end really ended."""

    result: Result
    detail: str


def on_disk(seen: NodeSeen, release: Release) -> bool | None:
    """Whether the release's packages are installed; None where that was not seen."""
    if not release.packages:
        return True
    if not seen.packages:
        return None
    return all(seen.packages.get(package.name) == package.version for package in release.packages)


def shows(seen: NodeSeen, release: Release) -> bool | None:
    """Whether the running node shows the release; None where a part was not seen."""
    if any(part not in seen.shown for part in release.versions):
        return None
    return all(seen.shown[part] == version for part, version in release.versions.items())


def is_on(seen: NodeSeen, release: Release) -> bool | None:
    """Whether a node carries and shows a release; None where it can't be said."""
    parts = (on_disk(seen, release), shows(seen, release))
    if False in parts:
        return False
    return None if None in parts else True


def look(record: StepRecord, seen: NodeSeen, release: Release | None) -> Looked | None:
    """How a step without an end really ended, by what the node shows now; None while that can't be said.

    Called only when no engine of ours carries the step any more. A lock on the node means that it still runs.
    """
    if seen.lock or (record.verb in OVER_SSH and seen.reachable is not True):
        return None
    match record.verb:
        case Verb.REBOOT | Verb.POWER_CYCLE:
            if not seen.boot:
                return None
            if record.boot and seen.boot != record.boot:
                return Looked(Result.DONE, "found by looking: the boot identity has changed")
            return Looked(Result.LOST, "found by looking: the node did not boot again")
        case Verb.FLASH:
            flashed = _flashed(seen, release) if release is not None else None
            if flashed is None:
                return None
            return Looked(Result.DONE if flashed else Result.LOST, "found by looking: the firmware that runs")
        case Verb.CONVERGE | Verb.REVERT:
            installed = on_disk(seen, release) if release is not None else None
            if installed is None:
                return None
            return Looked(Result.DONE if installed else Result.LOST, "found by looking: the packages installed")
        case Verb.CORDON:
            return Looked(Result.DONE if seen.ours else Result.LOST, "found by looking: the scheduler")
        case Verb.UNCORDON:
            return Looked(Result.LOST if seen.ours else Result.DONE, "found by looking: the scheduler")
        case Verb.POWER_OFF:
            if seen.power is Power.UNKNOWN:
                return None
            return Looked(Result.DONE if seen.power is Power.OFF else Result.LOST, "found by looking: the BMC")
        case _:
            return Looked(Result.LOST, "its end was not seen; it is done again")


def _flashed(seen: NodeSeen, release: Release) -> bool | None:
    """Whether what only a flash can change is as the release says; None where a part was not seen."""
    installed = {package.part for package in release.packages}
    parts = {part: version for part, version in release.versions.items() if part not in installed}
    if any(part not in seen.shown for part in parts):
        return None
    return all(seen.shown[part] == version for part, version in parts.items())


def last_index(order: WorkOrder, verbs: frozenset[Verb], result: Result | None = None) -> int:
    """The place in the order's history of the last step with one of `verbs` (and that result); -1 where none is."""
    for index in range(len(order.steps) - 1, -1, -1):
        step = order.steps[index]
        if step.verb in verbs and (result is None or step.result is result):
            return index
    return -1


def failures(order: WorkOrder, verb: Verb) -> int:
    """How often a verb failed under the order's present purpose, rung and direction."""
    return sum(step.verb is verb and step.result is Result.FAILED for step in order.steps[order.mark :])


def verified(order: WorkOrder) -> StepRecord | None:
    """The passed verify that came after the last disruptive step, if there is one."""
    passed = last_index(order, frozenset({Verb.VERIFY}), Result.DONE)
    return order.steps[passed] if passed > last_index(order, DISRUPTIVE) else None


def advance(scene: Scene) -> Way:
    """The next verb on an order's route, or why there is none now."""
    for stage in ROUTES[scene.order.purpose]:
        way = _STAGES[stage](scene)
        if way is not None:
            return way
    return Finished()


def stage_of(way: Way, order: WorkOrder) -> Stage:
    """The stage in which an order is, given what comes next."""
    match way:
        case Next(stage=stage) | Wait(stage=stage):
            return stage
        case Finished():
            return ROUTES[order.purpose][-1]
        case Stuck():
            return Stage.WIPE if order.purpose is Purpose.RETIRE else Stage.VERIFY


def phase(order: WorkOrder | None, way: Way | None, seen: NodeSeen, enrolled: Enrolment | None) -> Phase:
    """Where a node is, in the words of the product."""
    if enrolled is not None and enrolled.retired:
        return Phase.RETIRED
    if order is None or way is None:
        if enrolled is None or not enrolled.served:
            return Phase.ENROLLING
        return Phase.CORDONED if seen.cordons else Phase.SERVING
    if isinstance(way, Wait) and way.reason is Because.AWAITING_HANDS:
        return Phase.AWAITING_HANDS
    found = PHASES[stage_of(way, order)]
    if found is Phase.SERVING:
        return Phase.CORDONED if seen.cordons else found
    return Phase.DRAINED if found is Phase.CORDONED and seen.has_work is False else found


def _cordon(scene: Scene) -> Way | None:
    if scene.seen.ours or opened(scene.order) or wiped(scene.order):
        return None
    return _try(scene, Verb.CORDON, Stage.CORDON)


def wiped(order: WorkOrder) -> bool:
    """Whether the node was wiped under this order: no work can be on it, whatever can't be seen of it any more."""
    return last_index(order, _WIPE, Result.DONE) >= 0


def opened(order: WorkOrder) -> bool:
    """Whether the order's last word to the scheduler was to open the node: then it isn't closed again."""
    uncordoned = last_index(order, _UNCORDON, Result.DONE)
    return uncordoned >= 0 and uncordoned > last_index(order, _CORDON | DISRUPTIVE)


def _drain(scene: Scene) -> Way | None:
    order, seen = scene.order, scene.seen
    if opened(order):
        return None
    if last_index(order, _DRAIN, Result.DONE) < last_index(order, _CORDON, Result.DONE) or not any(
        step.verb is Verb.DRAIN for step in order.steps
    ):
        return _try(scene, Verb.DRAIN, Stage.DRAIN)
    if seen.has_work is None and wiped(order):
        return None
    if seen.has_work is None:
        return Wait(Because.GAP, Stage.DRAIN, text="whether work is on the node could not be seen")
    holders = holding(seen, scene.policy)
    if seen.has_work or holders:
        names = tuple(job.id for job in seen.work) + holders
        return Wait(Because.DRAIN_WAITING, Stage.DRAIN, names, "waiting for work to leave")
    return None


def holding(seen: NodeSeen, policy: Policy) -> tuple[str, ...]:
    """Processes on accelerators that hold a node; services that policy lets us stop don't.

    A holder is said as `name`, or as `kind name (pid N)`.
    """
    services = set(policy.drain.stop_services)
    return tuple(holder for holder in seen.holders if not services.intersection(holder.partition(" (")[0].split()))


def _converge(scene: Scene) -> Way | None:
    order, seen, release = scene.order, scene.seen, scene.release
    verb = Verb.REVERT if order.reverting else Verb.CONVERGE
    if release is None:
        return Stuck(verb, "there is no release to bring the node to")
    installed = on_disk(seen, release)
    if installed is None:
        return Wait(Because.GAP, Stage.CONVERGE, text="which packages are installed could not be seen")
    if not installed:
        answered = sum(step.verb is verb and step.result is Result.DONE for step in order.steps[order.mark :])
        if answered >= scene.policy.tries(verb):
            return Stuck(verb, f"no effect: {verb} was answered as done, and the packages are not there", True)
        return _try(scene, verb, Stage.CONVERGE)
    shown = shows(seen, release)
    if shown:
        return None
    base = last_index(order, _INSTALL)
    for need in release.needs:
        if last_index(order, frozenset({need}), Result.DONE) < max(base, order.mark):
            return _try(scene, need, Stage.CONVERGE)
    if shown is None:
        return Wait(Because.GAP, Stage.CONVERGE, text="which versions run could not be seen")
    wrong = ", ".join(
        f"{part} is {seen.shown[part]} and not {version}"
        for part, version in release.versions.items()
        if seen.shown[part] != version
    )
    return Stuck(verb, f"no effect: every step succeeded, and on the node {wrong}")


def _remedy(scene: Scene) -> Way | None:
    order, rung, case = scene.order, scene.order.rung, scene.case
    if rung is None:
        if case is not None and case.acts:
            return Wait(Because.SOAKING, Stage.REMEDY, case.causes, "waiting for the fault to stay away")
        return None
    if last_index(order, frozenset({rung}), Result.DONE) >= order.mark:
        return None
    if rung is Verb.RMA:
        return Wait(Because.AWAITING_HANDS, Stage.REMEDY, (order.id,), last_words(order))
    return _try(scene, rung, Stage.REMEDY)


def last_words(order: WorkOrder) -> str:
    """What the last failed step of an order said."""
    failed = [step for step in order.steps if step.result is Result.FAILED]
    return f"{failed[-1].verb} failed: {failed[-1].detail}" if failed else "the remedy is a person's work"


def _verify(scene: Scene) -> Way | None:
    order = scene.order
    if verified(order) is not None or opened(order):
        return None
    if last_index(order, DISRUPTIVE) < 0 and order.purpose not in _ALWAYS_VERIFIED:
        return None
    return _try(scene, Verb.VERIFY, Stage.VERIFY)


def _soak(scene: Scene) -> Way | None:
    order, passed = scene.order, verified(scene.order)
    if not order.canary or order.reverting or passed is None or passed.ended is None or opened(order):
        return None
    left = (scene.policy.soak - (scene.now - passed.ended)).total_seconds()
    if left <= 0:
        return None
    return Wait(Because.SOAKING, Stage.SOAK, text=f"the canary is watched for another {left:.0f} s")


def _uncordon(scene: Scene) -> Way | None:
    return _try(scene, Verb.UNCORDON, Stage.UNCORDON) if scene.seen.ours else None


def _once(verb: Verb, stage: Stage) -> Callable[[Scene], Way | None]:
    """A stage that is one verb, done once."""

    def judge(scene: Scene) -> Way | None:
        return None if last_index(scene.order, frozenset({verb}), Result.DONE) >= 0 else _try(scene, verb, stage)

    return judge


def _try(scene: Scene, verb: Verb, stage: Stage) -> Way:
    if verb not in _NEVER_STUCK and failures(scene.order, verb) >= scene.policy.tries(verb):
        failed = scene.order.steps[last_index(scene.order, frozenset({verb}), Result.FAILED)]
        return Stuck(verb, failed.detail or f"{verb} failed")
    again = [
        step for step in scene.order.steps[scene.order.mark :] if step.verb is verb and step.result is Result.AGAIN
    ]
    if verb not in _NEVER_STUCK and len(again) >= MOST_AGAIN:
        return Stuck(verb, f"asked {len(again)} times, and each time: {again[-1].detail}")
    last = scene.order.steps[-1] if scene.order.steps else None
    not_yet = last is not None and last.verb is verb and last.result is Result.AGAIN and last.ended is not None
    if last is not None and last.ended is not None and not_yet and scene.now - last.ended < PAUSE:
        return Wait(Because.PACING, stage, (scene.order.id,), last.detail)
    return Next(verb, stage)


MOST_AGAIN = 20
"""How often a verb may be answered with "not yet" before it has failed."""

PAUSE = timedelta(seconds=30)
"""How long a verb that was answered with "not yet" waits before it is asked again."""


_CORDON = frozenset({Verb.CORDON})
_UNCORDON = frozenset({Verb.UNCORDON})
_DRAIN = frozenset({Verb.DRAIN})
_WIPE = frozenset({Verb.WIPE})
_INSTALL = frozenset({Verb.CONVERGE, Verb.REVERT})
_NEVER_STUCK = _CORDON | _UNCORDON | _DRAIN
_ALWAYS_VERIFIED = frozenset({Purpose.REPAIR, Purpose.ENROL})

_STAGES: Mapping[Stage, Callable[[Scene], Way | None]] = {
    Stage.CORDON: _cordon,
    Stage.DRAIN: _drain,
    Stage.CONVERGE: _converge,
    Stage.REMEDY: _remedy,
    Stage.EXPORT: _once(Verb.EXPORT, Stage.EXPORT),
    Stage.WIPE: _once(Verb.WIPE, Stage.WIPE),
    Stage.REVOKE: _once(Verb.REVOKE, Stage.REVOKE),
    Stage.POWER_OFF: _once(Verb.POWER_OFF, Stage.POWER_OFF),
    Stage.VERIFY: _verify,
    Stage.SOAK: _soak,
    Stage.UNCORDON: _uncordon,
}
