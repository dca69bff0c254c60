"""The body of a BMC's answer before anything is believed: whole JSON or not, an error in it or not.

The body decides, not the HTTP status. A broken or refused answer says nothing about the thing that was asked for,
and nothing in it makes the BMC broken.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fleet.readers.reading import Context, Gap, Problem, Reading, Text
from fleet.readers.text import Repeated, decode, mapping, number, parse_json, printable, sequence

# last part of a MessageId -> (retry, remedy)
MESSAGES: Mapping[str, tuple[bool | str, str | None]] = {
    "ServiceTemporarilyUnavailable": (True, None),
    "ServiceShuttingDown": (True, None),
    "InternalError": (True, None),
    "GeneralError": (True, None),
    "ResourceInUse": (True, None),
    "ResourceInStandby": (True, None),
    "OperationTimeout": (True, None),
    "EventSubscriptionLimitExceeded": (False, None),
    "SessionLimitExceeded": ("after_remedy", "close sessions that are no longer used"),
    "NoValidSession": ("after_remedy", "new session"),
    "SessionTerminated": ("after_remedy", "new session"),
    "InsufficientPrivilege": ("after_remedy", "an account with the privilege"),
    "AccessDenied": ("after_remedy", "an account with the privilege"),
    "PasswordChangeRequired": ("after_remedy", "change the password of the account"),
    "ResourceAtUriUnauthorized": ("after_remedy", "new session"),
    "LC068": (
        "after_remedy",
        "wait for the configuration job, or apply or delete the pending changes",
    ),
}
_PENDING = frozenset(("LC068",))
_NAMES_NOTHING = ("GeneralError", "")


@dataclass(frozen=True, slots=True)
class Body:
    """A usable document."""

    document: Repeated
    path: str
    repeated: frozenset[str] = field(default_factory=frozenset)


def path_of(document: Mapping[str, Any], context: Context) -> str:
    """The resource that a document is, or that was asked for."""
    path = document.get("@odata.id", context.get("asked_for"))
    return path if isinstance(path, str) else "/"


def last(path: str) -> str:
    """The last part of a path."""
    return path.rstrip("/").rpartition("/")[2] or path


def load(kind: str, text: Text, context: Context, empty: Mapping[str, Any]) -> Body | Reading:
    """The document, or the reading that says why there is none. `empty`: how an unknown resource of this kind looks."""
    decoded = decode(text)
    asked = context.get("asked_for")
    html = "html" in str(context.get("content_type", "")).lower() or decoded.lstrip()[:1] == "<"
    if html:
        path = asked if isinstance(asked, str) else "/"
        status = context.get("http_status")
        server = isinstance(status, int) and status >= 500
        response = {
            "usable": False,
            "retry": True if server else "after_remedy",
            "remedy": None if server else "new session",
        }
        return _unusable(kind, path, path, response, f"HTML under HTTP {status or 'an unknown status'}", empty)
    document = parse_json(decoded)
    if not isinstance(document, Repeated):
        found = re.search(r"\"@odata\.id\"\s*:\s*\"([^\"]+)\"", decoded)
        path = asked if isinstance(asked, str) else found.group(1) if found else "/"
        why = (
            "JSON ends early"
            if decoded.strip()[:1] in ("{", "[")
            else "empty body"
            if not decoded.strip()
            else "not JSON"
        )
        return _unusable(kind, path, last(path), {"usable": False, "retry": True}, why, empty)
    if isinstance(document.get("error"), Mapping) and "@odata.type" not in document:
        return _refused(kind, document["error"], context, empty)
    return Body(document, path_of(document, context), frozenset(document.repeated))


def _unusable(kind: str, path: str, what: str, response: dict[str, Any], why: str, empty: Mapping[str, Any]) -> Reading:
    more = {"response": {**response, "bmc_broken": False}, "resources": {path: dict(empty)}}
    return Reading(kind, gaps=(Gap(what, "not_reported", why=why),), more=more)


def _infos(error: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    extended = error.get("@Message.ExtendedInfo")
    entries = sequence(extended) if isinstance(extended, list) else [extended]
    return [mapping(entry) for entry in entries if mapping(entry)] or [
        {"MessageId": error.get("code"), "Message": error.get("message")}
    ]


def message_key(message: Mapping[str, Any]) -> str:
    """The part of a MessageId that firmware updates do not move."""
    return str(message.get("MessageId") or "").rpartition(".")[2]


def _refused(kind: str, error: Mapping[str, Any], context: Context, empty: Mapping[str, Any]) -> Reading:
    infos = _infos(error)
    told = next((info for info in infos if message_key(info) not in _NAMES_NOTHING), infos[0])
    key = message_key(told)
    status = context.get("http_status")
    retry, remedy = MESSAGES.get(key, (isinstance(status, int) and status >= 500, None))
    response: dict[str, Any] = {
        "usable": False,
        "message_key": printable(key),
        "severity": str(told.get("Severity") or told.get("MessageSeverity") or "unknown").lower(),
        "retry": retry,
        "remedy": remedy,
        "bmc_broken": False,
    }
    seconds = re.search(r"[Rr]etry in (\d+) seconds", str(told.get("Message", "")))
    arguments = sequence(told.get("MessageArgs"))
    after = number(seconds.group(1)) if seconds else number(arguments[0]) if retry is True and arguments else None
    if after is not None:
        response["retry_after_seconds"] = after
    findings: tuple[Problem, ...] = ()
    gaps: list[Gap] = []
    more: dict[str, Any] = {"response": response}
    if key in _PENDING:
        findings = (Problem("BMC", "pending_configuration", "config", "clear_or_apply_then_retry"),)
        what = "which attributes are pending, and whose they are"
        gaps.append(Gap(what, "not_reported", why="not in the message"))
    asked = context.get("asked_for")
    if isinstance(asked, str):
        more["resources"] = {asked: dict(empty)}
        gaps.append(Gap(last(asked), "not_reported", why=f"error body under HTTP {status or 'an unknown status'}"))
    elif not gaps and kind != "redfish_error":
        gaps.append(Gap("answer of the BMC", "not_reported", why="an error body"))
    return Reading(kind, findings, tuple(gaps), more=more)
