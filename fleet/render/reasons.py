"""What each reason of a hold means to a person, who can end it, and with what command. A table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from fleet.model.ids import Because
from fleet.model.plan import Held


@dataclass(frozen=True, slots=True)
class Meaning:
    """In words; `person`: it ends only when somebody does something; `step`: what ({node} {names} {first})."""

    words: str
    person: bool = False
    step: str = ""


MEANINGS: Mapping[Because, Meaning] = MappingProxyType(
    {
        Because.BUDGET_FULL: Meaning("as many nodes are out as the budget allows"),
        Because.FLOOR: Meaning("one more out would break the capacity floor"),
        Because.BREAKER_TRIPPED: Meaning("the breaker is on: too many nodes fell ill at once"),
        Because.PACING: Meaning("not yet"),
        Because.FOREIGN_CORDON: Meaning(
            "somebody else closed the node", True, "fleet uncordon {node} --as {first}   (once {first} agrees)"
        ),
        Because.PARKED: Meaning("it is declared parked", True, "set disposition: in_service in nodes.yaml"),
        Because.WINDOW_CLOSED: Meaning("its maintenance window is closed"),
        Because.GAP: Meaning("something could not be seen"),
        Because.OUT_OF_REACH: Meaning("the node does not answer", False, "fleet doctor {node}"),
        Because.DOMAIN_DOWN: Meaning("its whole rack, feed or leaf is down", False, "fleet status {node}"),
        Because.DRAIN_WAITING: Meaning("work is still on it"),
        Because.CHECKPOINT_WAITING: Meaning("a job was asked for a checkpoint"),
        Because.CANARY_PENDING: Meaning("the canary comes first"),
        Because.SOAKING: Meaning("the canary is being watched"),
        Because.GATE_FAILED: Meaning("it failed and goes back"),
        Because.ROLLOUT_HALTED: Meaning("its rollout has halted", True, "fleet rollout list"),
        Because.ROLLOUT_PAUSED: Meaning("its rollout is paused", True, "fleet rollout list"),
        Because.ORDER_OPEN: Meaning("its order is being moved on"),
        Because.LOCK_BUSY: Meaning("a step still runs on the node"),
        Because.AWAITING_HANDS: Meaning("a person must work on it", True, 'fleet give {node} --did "what was done"'),
        Because.INCOMPATIBLE: Meaning("the release does not fit it", True, "fleet check"),
        Because.NO_EFFECT: Meaning("the steps had no effect", True, "fleet why {node}"),
        Because.IRREVERSIBLE: Meaning("it can't go back", True, "fleet why {node}"),
        Because.WIPE_UNPROVEN: Meaning("its wipe is not proven", True, "fleet why {node}"),
        Because.NO_CAPACITY: Meaning("the cloud has none"),
        Because.APPROVAL_MISSING: Meaning("a person must approve it", True, "fleet approve {first}"),
        Because.APPROVAL_STALE: Meaning("what was approved has changed", True, "fleet approve {first}"),
        Because.CLOCK_JUMP: Meaning("this machine's clock can't be believed", True, "set the clock of this machine"),
        Because.STOPPED: Meaning("a person said stop", True, "fleet go --reason TEXT"),
        Because.FROZEN: Meaning("a person said freeze", True, "fleet unfreeze {node} --reason TEXT"),
        Because.OBSERVE_ONLY: Meaning("only looking is allowed", True, "fleet why {node}"),
        Because.UNTRUSTED: Meaning("its release can't be trusted", True, "fleet check"),
        Because.CONFIRMATION_MISSING: Meaning("a person must confirm it", True, "fleet retire {node}"),
    }
)


_BLAMES = frozenset({Because.BUDGET_FULL, Because.FLOOR, Because.CANARY_PENDING, Because.PACING})
"""Reasons whose words are worth little without who is to blame."""


_SELF_TOLD = frozenset({Because.SOAKING, Because.GATE_FAILED})
"""Reasons whose text says it all."""


def words(held: Held) -> str:
    """Why a node waits, in words, with who or what is to blame."""
    meaning = MEANINGS[held.reason].words
    if held.text and held.reason in _SELF_TOLD:
        return held.text
    detail = held.text if held.text and held.text != meaning else ", ".join(held.names)
    blamed = held.names if held.reason in _BLAMES else ()
    missing = [name for name in blamed if name not in detail and f"-{held.node}-" not in name]  # not its own order
    if missing:
        detail += f" ({', '.join(missing[:4])}{' and others' if len(missing) > 4 else ''})"
    return f"{meaning}: {detail}" if detail else meaning


def for_person(held: Held) -> bool:
    """Whether only a person can end this wait."""
    return MEANINGS[held.reason].person


def next_step(held: Held, rollout: str = "") -> str:
    """What a person types, or edits, to end the wait; empty where nothing is to be done."""
    if held.reason is Because.OUT_OF_REACH and "pulumi up" in held.text:
        return "pulumi up   (in the site's stack)"
    if rollout and held.reason in {Because.ROLLOUT_HALTED, Because.ROLLOUT_PAUSED}:
        return f"fleet rollout resume {rollout}   (or abort)"
    first = held.names[0] if held.names else held.node
    return MEANINGS[held.reason].step.format(node=held.node, first=first, names=" ".join(held.names))


_ABOUT_OTHERS = frozenset(
    {Because.ROLLOUT_HALTED, Because.ROLLOUT_PAUSED, Because.CANARY_PENDING, Because.BUDGET_FULL, Because.FLOOR}
)
"""Reasons that are the same for each node that waits, whoever they name."""


def shared(held: Held, rollout: str = "") -> tuple[str, str]:
    """The words and the next step as nodes with the same need share them; `{node}` in the step stands for them all."""
    step = next_step(held, rollout).replace(str(held.node), "{node}")
    text = words(held)
    return (text if held.reason in _ABOUT_OTHERS else text.replace(str(held.node), "the node")), step
