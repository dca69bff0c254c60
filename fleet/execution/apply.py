"""Carry verbs out: one match from verb to port. Nothing here decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fleet.errors import FleetError
from fleet.model.ids import NodeId, Verb
from fleet.model.order import Done, Failed, Outcome
from fleet.model.plan import Step
from fleet.model.release import Release
from fleet.model.topology import Declared
from fleet.ports import Archive, Configure, Firmware, Ledger, PowerPort, Schedule

ON_NODE = frozenset(
    {
        Verb.STAGE,
        Verb.CONVERGE,
        Verb.REVERT,
        Verb.VERIFY,
        Verb.REBOOT,
        Verb.RESET_GPU,
        Verb.RELOAD_DRIVER,
        Verb.RESTART_SERVICE,
        Verb.CORRECT_LIVE,
        Verb.REIMAGE,
        Verb.WIPE,
        Verb.REVOKE,
    }
)
"""Verbs that a playbook carries out, batched over nodes."""


_INSTALLS = frozenset({Verb.CONVERGE, Verb.REVERT, Verb.FLASH})
"""Verbs before which a release's signature and expiry are checked once more."""


@dataclass(frozen=True, slots=True)
class Hands:
    """The ports that change the world."""

    schedule: Schedule
    configure: Configure
    power: PowerPort
    ledger: Ledger
    firmware: Firmware | None = None
    archive: Archive | None = None
    doubt: Callable[[Release], str] | None = None  # why a release is not to be believed now; empty where it is


def batches(steps: Sequence[tuple[Step, int]]) -> Mapping[tuple[Verb, str], list[tuple[Step, int]]]:
    """Steps that one run can carry out together: the same verb towards the same release."""
    found: dict[tuple[Verb, str], list[tuple[Step, int]]] = {}
    for step, token in steps:
        found.setdefault((step.verb, step.release or ""), []).append((step, token))
    return found


def carry_out(
    hands: Hands,
    declared: Declared,
    verb: Verb,
    batch: Sequence[tuple[Step, int]],
    ended: Callable[[Step, int, Outcome], None],
) -> None:
    """Carry one batch out, and report each step's end once. A port that raises has failed that step, and says why."""
    tokens = {step.node: token for step, token in batch}
    release = _release(declared, batch[0][0])
    if verb in _INSTALLS and release is not None and hands.doubt is not None and (why := hands.doubt(release)):
        for step, token in batch:
            ended(step, token, Failed(f"{release.id} is not to be believed: {why}"))
        return
    if verb in ON_NODE:
        runs = [(step, declared.nodes[step.node], token) for step, token in batch]
        open_steps = {step.node: step for step, _ in batch}

        def report(step: Step, outcome: Outcome) -> None:
            if open_steps.pop(step.node, None) is not None:
                ended(step, tokens[step.node], outcome)

        try:
            hands.configure.run(verb, runs, release, report)
        except FleetError as error:
            for step in list(open_steps.values()):
                report(step, Failed(str(error)))
        return
    for step, token in batch:
        ended(step, token, _one(hands, declared, step, token))


def _one(hands: Hands, declared: Declared, step: Step, token: int) -> Outcome:
    if not hands.ledger.still_ours(step.node, token):
        return Failed("the right to act was lost before the request was made")
    try:
        return _ask(hands, declared, step)
    except FleetError as error:
        return Failed(str(error))


def _ask(hands: Hands, declared: Declared, step: Step) -> Outcome:
    node = declared.nodes[step.node]
    match step.verb:
        case Verb.CORDON:
            return hands.schedule.cordon(step.node, step.order, f"{step.purpose.lower()} {step.why}".strip())
        case Verb.DRAIN:
            return hands.schedule.requeue(step.node, step.order) if step.force else Done("no new work comes")
        case Verb.UNCORDON:
            return hands.schedule.uncordon(step.node, step.order)
        case Verb.POWER_CYCLE:
            return hands.power.cycle(node)
        case Verb.POWER_OFF:
            return hands.power.turn_off(node)
        case Verb.EXPORT:
            return hands.archive.export(node, step.order) if hands.archive else Done("nothing is declared to be kept")
        case Verb.FLASH:
            release = _release(declared, step)
            if hands.firmware is None or release is None:
                return Failed("no firmware port, or no release to flash")
            return hands.firmware.flash(node, release)
        case _:
            return Failed(f"{step.verb} is not a verb that is carried out")


def _release(declared: Declared, step: Step) -> Release | None:
    return declared.releases.get(step.release) if step.release is not None else None


def node_names(batch: Sequence[tuple[Step, int]]) -> tuple[NodeId, ...]:
    """The nodes of a batch."""
    return tuple(step.node for step, _ in batch)
