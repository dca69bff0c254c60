"""The fault tables as readers use them: severity, scope and action of a code, in the words of readings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from fleet import facts

SEVERITY = {"ignore": "info", "warn": "warn", "drain": "fault", "fatal": "fault"}
ACTION = {
    "none": "none",
    "restart app": "restart_app",
    "reset gpu": "reset_gpu",
    "reboot": "reboot",
    "contact": "contact_support",
    "check/replace hardware": "check_hardware",
}
_RESET_LATER = re.compile(r"schedule reset|then reset gpu|retrain by reset", re.I)
_NODE_WIDE = {"ATHUB-UE": "node", "XGMI-CACHE": "node"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a table says of one code. `then`: what has to happen later."""

    severity: str
    scope: str
    action: str
    then: str | None = None
    said_by_154: bool = False
    follows_others: bool = False


UNKNOWN_CODE = Verdict("warn", "gpu", "contact_support")


def _severity(word: str) -> str:
    return SEVERITY.get(word, "warn")


@cache
def xid(code: int) -> Verdict:
    """The verdict of `xid.csv`; a code that no table knows goes to a person."""
    row = facts.by_key("xid", "code").get(str(code))
    if row is None:
        return UNKNOWN_CODE
    action = ACTION.get(row["action"], "contact_support")
    of_app = row["class"] == "app" or (row["class"] == "driver" and action == "restart_app")
    return Verdict(
        _severity(row["severity"]),
        "app" if of_app or code == 45 else "gpu",
        action,
        "reset_gpu" if _RESET_LATER.search(row["notes"]) and action != "reset_gpu" else None,
        bool(row["xid154_since"]),
        row["class"] == "follow-on" or "SYMPATHETIC_REPORT_SOLO" in row["investigate"],
    )


def _amd_verdict(row: Mapping[str, str]) -> Verdict:
    action = ACTION.get(row["action"], "contact_support")
    if action == "check_hardware" and row["category"] in ("memory", "HBM"):
        action = "rma"
    scope = {"app": "app", "platform": "node"}.get(row["category"], "gpu")
    return Verdict(_severity(row["severity"]), _NODE_WIDE.get(row["id"], scope), action)


@cache
def amd(code: str) -> Verdict:
    """The verdict of `amd_errors.csv` by its id."""
    row = facts.by_key("amd_errors", "id").get(code)
    return _amd_verdict(row) if row else UNKNOWN_CODE


def afid(code: int) -> Verdict:
    """The verdict of an AMD field identifier."""
    return amd(f"AFID-{code}")


@cache
def amd_patterns() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """Id, pattern and category of every kernel message that the AMD table knows, in its order."""
    rows = (row for row in facts.table("amd_errors") if row["kind"] == "dmesg")
    return tuple((row["id"], re.compile(row["match"]), row["category"]) for row in rows)
