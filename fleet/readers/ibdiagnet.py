"""The log of ibdiagnet: mostly noise and change requests, and it lists fewer errors than it counts."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Problem, Reading, Text
from fleet.readers.text import decode, lines, mapping, plain, printable

_STAGE = re.compile(r"-I-\s+(.+?)\s+(\d+)\s+(\d+)(?:\s+.*)?$")
_COUNTER = re.compile(r"(\S+?)/\S+?/(P\S+) - \"(\w+)\" increased during the run \(difference value=(\d+)")
_HOT = re.compile(
    r"(\S+?)/\S+?/(P\S+) - Cable High Temperature detected, current temperature: (-?\d+)C, threshold: (-?\d+)C"
)
_ALARM = re.compile(r"(\S+?)/\S+?/(P\S+) - Cable .*(?:Alarm|Warning) reported")
_FIRMWARE = re.compile(r"(\S+) - Node with Devid.*has FW version (\S+) while the latest FW version")
_RAIL = re.compile(r"\s*Node rail connectivity mismatch.*?switch: \"([^\"]+)\"")
_SILENT = re.compile(r"(\S+?/\S+?)/\S* - No response for MAD (\w+)")
_KINDS = {"link_down_counter": "link_went_down", "symbol_error_counter": "symbol_errors_growing"}
_TOTALS = {"Total Nodes": "nodes", "IB Switches": "switches", "IB Channel Adapters": "channel_adapters"}


@dataclass(slots=True)
class _Log:
    """What a log lists and counts."""

    context: Context
    problems: list[Problem] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    noise: list[dict[str, Any]] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    listed: dict[tuple[str, str], int] = field(default_factory=dict)
    counted: dict[str, tuple[int, int]] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)


def read(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`ibdiagnet2.log`."""
    log = _walk(decode(text), context)
    if not log.counted and not log.listed:
        reason = "unparseable_line" if decode(text).strip() else "empty_output"
        return Reading("ibdiagnet_log", gaps=(Gap("fabric", reason),), more={"problems": []})
    log.totals["warnings"] = sum(warnings for warnings, _ in log.counted.values())
    log.totals["errors"] = sum(errors for _, errors in log.counted.values())
    errors = {name: [log.listed.get((name, "E"), 0), number] for name, (_, number) in log.counted.items() if number}
    warnings = {name: [log.listed.get((name, "W"), 0), number] for name, (number, _) in log.counted.items() if number}
    short = [
        Gap(f"{name} errors", "not_reported", why=f"{number} counted, {shown} listed")
        for name, (shown, number) in errors.items()
        if shown < number
    ]
    short += _absent(log.totals, context)
    if not log.counted:
        short.append(Gap("summary", "truncated_line", why="output ends before the summary"))
    more = {
        "totals": log.totals,
        "problems": [problem.as_json() for problem in log.problems],
        "change_requests": log.changes,
        "noise": log.noise,
        "errors_listed_of_counted": errors,
        "warnings_listed_of_counted": warnings,
    }
    return Reading("ibdiagnet_log", gaps=(*short, *log.gaps), more=more)


def _walk(text: str, context: Context) -> _Log:
    log = _Log(context)
    stage, at_title = "", True
    for _, raw in lines(text):
        line = plain(raw)
        if re.fullmatch(r"-{10,}\s*", line):
            at_title = True
        elif at_title and line.strip():
            stage, at_title = line.strip(), False
        elif line.startswith("-I-") and (found := _STAGE.match(line)):
            log.counted[found.group(1)] = (int(found.group(2)[:9]), int(found.group(3)[:9]))
        elif line[:3] in ("-E-", "-W-"):
            if "finished with" not in line:
                log.listed[stage, line[1]] = log.listed.get((stage, line[1]), 0) + 1
                _take(log, line[3:].lstrip(" "))
        elif " : " in line and line.split(" : ")[0].strip() in _TOTALS:
            key, _, value = line.partition(" : ")
            if value.strip().isdigit():
                log.totals[_TOTALS[key.strip()]] = int(value.strip()[:9])
    return log


def _absent(totals: Mapping[str, int], context: Context) -> list[Gap]:
    """Fewer switches or adapters than are declared were not looked at."""
    return [
        Gap(
            f"{wanted - totals[name]} {name.replace('_', ' ')}",
            "missing_from_report",
            why="declared, not in the fabric",
        )
        for name, wanted in mapping(context.get("expected")).items()
        if isinstance(wanted, int) and name in totals and totals[name] < wanted
    ]


def _take(log: _Log, body: str) -> None:
    """One error or warning."""
    if found := _COUNTER.match(body):
        where = f"{found.group(1)}:{found.group(2)}"
        kind = _KINDS.get(found.group(3), f"{found.group(3)}_growing")
        log.problems.append(Problem(where, kind, "link", "inspect_cable"))
    elif found := _HOT.match(body):
        where, now, limit = f"{found.group(1)}:{found.group(2)}", int(found.group(3)), int(found.group(4))
        if limit <= 0:
            log.noise.append({"where": where, "why": f"threshold {limit}C: the module gave none"})
        elif now >= limit:
            log.problems.append(Problem(where, "cable_too_hot", "cable", "inspect_cable"))
    elif found := _ALARM.match(body):
        log.problems.append(Problem(f"{found.group(1)}:{found.group(2)}", "cable_alarm", "cable", "inspect_cable"))
    elif found := _FIRMWARE.match(body):
        if found.group(2) != log.context.get("declared_nic_firmware"):
            log.changes.append(
                {
                    "where": found.group(1),
                    "kind": "firmware_outlier",
                    "found": found.group(2),
                    "action": "change_request",
                }
            )
    elif found := _RAIL.match(body):
        log.changes.append({"where": printable(found.group(1)), "kind": "rail_mismatch", "action": "change_request"})
    elif found := _SILENT.match(body):
        what = "cable data" if "Cable" in found.group(2) else found.group(2)
        log.gaps.append(Gap(f"{what} of {found.group(1)}", "not_reported", why=f"no response for MAD {found.group(2)}"))
