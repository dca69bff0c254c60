"""XIDs 144 to 150: decided by the register pair, not by the number.

Below R575 the first word holds XID minus 143 in bits 4:0, the sub-unit in 9:5 and the link in 17:13; from R575 the
sub-unit is in bits 6:0 and bit 7 says fatal. Both hold the sub-code of link events in bits 25:20. The driver
version picks the layout; the other one is never tried, since a word may match a row of either by accident. Without
a matching row a person decides.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fleet import facts
from fleet.readers.catalogue import ACTION

CODES = range(144, 151)
NEW_LAYOUT_SINCE = 575
_TAIL = re.compile(
    r"(?P<unit>[A-Z][A-Z0-9_]{0,40}(?: Degraded)?)\s+(?P<word>Fatal|Nonfatal|Non-fatal)\s+XC(?P<xc>\d+)\s+i(?P<i>\d+)"
    r"(?:\s+Link\s+(?P<link>-?\d+))?"
)
_REGISTERS = re.compile(r"\((0x[0-9a-fA-F]{1,8}(?:[ ,]+0x[0-9a-fA-F]{1,8})*)\)")


@dataclass(frozen=True, slots=True)
class Decoded:
    """The judgement of one line. `gap`: why the action is not known; `sympathetic`: a row that seldom stands alone."""

    unit: str
    severity: str
    scope: str
    action: str
    detail: dict[str, Any] = field(default_factory=dict)
    fallback: str | None = None
    sympathetic: bool = False
    gap: str | None = None


@dataclass(frozen=True, slots=True)
class _Rule:
    unit: str
    mask: int
    value: int
    status: frozenset[int] | None
    action: str
    investigate: str


def _hex(text: str) -> int:
    return int(text, 16)


@cache
def _rules(xid: int, new: bool) -> tuple[_Rule, ...]:
    """The rows of one XID in one layout, the escalated form of a row before the row itself."""
    rules: list[_Rule] = []
    version = "v2" if new else "v1"
    for row in facts.table("xid_nvlink5_decode"):
        if row["xid"] != str(xid):
            continue
        status = None if row["error_status"] == "any" else frozenset(map(_hex, row["error_status"].split("|")))
        unit = row["subcode_ge_r575" if new else "subcode_lt_r575"]
        for prefix, action in (("escalated_", row["escalated_action"]), ("", row["action"])):
            if mask := row[f"{prefix}{version}_mask"]:
                value = _hex(row[f"{prefix}{version}_value"])
                rules.append(_Rule(unit, _hex(mask), value, status, action, row["investigate"]))
    return tuple(rules)


def _layout_fits(xid: int, unit: str, word: int, new: bool) -> bool:
    """False where the word contradicts the text, which means that it was written in the other layout."""
    known = {rule.value & (0x7F if new else 0x3FF) for rule in _rules(xid, new) if rule.unit == unit}
    if new:
        return not known or word & 0x7F in known
    return word & 0x1F == xid - 143 or word & 0x3FF in known


def major(driver: Any) -> int | None:
    """The branch of a driver version such as 570.158.01."""
    found = re.match(r"\s*(\d{3,4})(?:\.|\s|$)", str(driver)) if driver is not None else None
    return int(found.group(1)) if found else None


def truncated(tail: str) -> bool:
    """True where the register list is not whole."""
    return not _REGISTERS.search(tail)


def decode(xid: int, tail: str, driver: Any) -> Decoded | None:
    """The judgement of the text behind the number, None if it names no unit."""
    found = _TAIL.search(tail)
    if not found:
        return None
    unit = found["unit"]
    link = int(found["link"]) if found["link"] is not None else None
    detail: dict[str, Any] = {"link": None if link is not None and link < 0 else link}
    registers = _REGISTERS.search(tail)
    if registers is None:
        return Decoded(unit, "warn", "gpu", "undetermined", detail, gap="truncated_line")
    words = [_hex(word) for word in re.split(r"[ ,]+", registers.group(1))]
    if len(words) < 2:
        return Decoded(unit, "warn", "gpu", "undetermined", detail, gap="truncated_line")
    detail["error_status"] = words[1]
    branch = major(driver)
    if branch is None:
        return Decoded(unit, "warn", "gpu", "undetermined", {**detail, "rule": None}, gap="driver_version_unknown")
    new = branch >= NEW_LAYOUT_SINCE
    if "LINK" in unit:
        detail["sub_code"] = words[0] >> 20 & 0x3F
    if new:
        detail["fatal_bit"] = bool(words[0] & 0x80)
    rule = _match(xid, unit, words[0], words[1], new)
    if rule is None:
        action = "contact_support" if _layout_fits(xid, unit, words[0], new) else "undetermined"
        return Decoded(unit, "warn", "gpu", action, {**detail, "rule": None}, gap="no_matching_rule")
    return _judged(unit, rule, detail)


def _match(xid: int, unit: str, word: int, status: int, new: bool) -> _Rule | None:
    fitting = [
        rule
        for rule in _rules(xid, new)
        if word & rule.mask == rule.value and (rule.status is None or status in rule.status)
    ]
    named = [rule for rule in fitting if rule.unit == unit]
    if not named and any(rule.unit == unit for layout in (True, False) for rule in _rules(xid, layout)):
        return None
    return next(iter(named or fitting), None)


def _judged(unit: str, rule: _Rule, detail: dict[str, Any]) -> Decoded:
    sympathetic = "SYMPATHETIC" in rule.investigate
    if rule.action.startswith("follow 154"):
        return Decoded(unit, "warn", "app", "workflow_xid_154", detail, fallback="restart_app")
    if rule.action == "none":
        host = "HOST" in rule.investigate
        if host:
            detail["investigate"] = "host"
        quiet = rule.investigate == "IGNORE"
        return Decoded(unit, "info" if quiet else "warn", "node" if host else "gpu", "none", detail, None, sympathetic)
    return Decoded(unit, "fault", "gpu", ACTION.get(rule.action, "contact_support"), detail, None, sympathetic)
