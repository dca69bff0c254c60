"""What the events of a run mean for each node. Pure.

A node that couldn't be reached has not failed: if the connection was never made, nothing was done and it is asked
again; if it broke in the middle of a verb that changes something, nobody knows and it is looked at first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from fleet.lifecycle.table import MUTATING
from fleet.model.ids import Verb
from fleet.model.order import Again, Done, Failed, Lost, Outcome

TASK = "fleet_step"
"""The action whose result is the step's; whatever else a playbook does only prepares it."""

NEVER_CONNECTED = re.compile(
    r"ssh: connect to host|Could not resolve hostname|Host key verification failed|IDENTIFICATION HAS CHANGED"
    r"|Permission denied|No .* host key is known|banner exchange|timed out during banner"
)
AROUND = re.compile(r"^Task failed: |Data could not be sent to .*? over ssh: |Failed to connect to the host via ssh: ")
DENIED = re.compile(r"Permission denied \(([^)]*)\)")
SOON = timedelta(seconds=10)
LATER = timedelta(seconds=60)

# Exit codes of playbooks/node/fleet-node.
DONE, BUSY, FENCED, IN_USE = 0, 75, 76, 77
NOT_YET = {BUSY: SOON, FENCED: LATER, IN_USE: SOON}


def outcome_of(verb: Verb, event: str, data: Mapping[str, Any]) -> tuple[str, Outcome] | None:
    """The host that an event settles, and how; None for an event that settles nothing."""
    host, result = str(data.get("host") or ""), data.get("res")
    if not host or not isinstance(result, Mapping):
        return None
    match event:
        case "runner_on_unreachable":
            return host, unreachable(verb, str(result.get("msg") or "unreachable"))
        case "runner_on_ok" | "runner_on_failed" if data.get("task_action") == TASK:
            return host, told(verb, result)
        case "runner_on_failed" if not data.get("ignore_errors"):
            return host, Failed(f"{data.get('task')}: {_line(str(result.get('msg') or 'failed'))}")
        case _:
            return None


def told(verb: Verb, result: Mapping[str, Any]) -> Outcome:
    """The outcome that the node's wrapper told by its exit code."""
    why = _line(str(result.get("why") or result.get("msg") or "it said nothing"))
    match result.get("code"):
        case 0:
            shown = result.get("shown")
            figures = {str(k): str(v) for k, v in shown.items()} if isinstance(shown, Mapping) else {}
            return Done(str(result.get("detail") or ""), figures)
        case int() as code if code in NOT_YET:
            return Again(NOT_YET[code], why)
        case int():
            return Failed(why)
        case _:  # the connection ended under it, or the action plugin broke down
            return unknown(verb, why)


def unreachable(verb: Verb, message: str) -> Outcome:
    """A connection that wasn't made, or that broke."""
    changed = "IDENTIFICATION HAS CHANGED" in message
    why = "it shows another host key than the pinned one" if changed else _line(AROUND.sub("", message))
    if verb is Verb.REVOKE and "publickey" in "".join(DENIED.findall(message)):
        return Done("the node refuses our key, which is the last thing that revoke takes away")
    if NEVER_CONNECTED.search(message):
        return Again(LATER, f"unreachable: {why}")
    return unknown(verb, f"the connection broke: {why}")


def unknown(verb: Verb, why: str) -> Outcome:
    """Nobody knows how it ended: look first where something may have changed, else just ask again."""
    return Lost(why) if verb in MUTATING else Again(SOON, why)


def _line(text: str) -> str:
    """The telling line of a message."""
    lines = [line.strip() for line in text.replace("\\r\\n", "\n").splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(("@@@", "Warning: Permanently added"))] or lines
    return (lines[0] if lines else "it said nothing")[:500]
