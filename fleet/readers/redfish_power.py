"""Power as a BMC shows it: capacity of supplies is not draw, extremes of an unknown window are not a maximum."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Problem, Reading, Text
from fleet.readers.redfish_body import last, load
from fleet.readers.redfish_sensor import status_verdict
from fleet.readers.text import mapping, number, sequence

_RANGES = (
    ("AC200To", 200, 277),
    ("AC240V", 220, 264),
    ("AC277V", 250, 305),
    ("AC100To", 90, 264),
    ("AC120V", 100, 130),
    ("AC100To127V", 90, 140),
    ("DC48V", 40, 60),
    ("DC380V", 300, 420),
    ("DC240V", 200, 280),
)


def read_metric_report(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """A metric report: values are strings, and extremes without a window may not replace a declared maximum."""
    body = load("redfish_metric_report", text, context, {"verdict": "unknown"})
    if isinstance(body, Reading):
        return body
    metrics: dict[str, Any] = {}
    gaps: list[Gap] = []
    for entry in map(mapping, sequence(body.document.get("MetricValues"))):
        name = last(str(entry.get("MetricProperty") or entry.get("MetricId") or "?"))
        value = number(entry.get("MetricValue"))
        if value is None:
            gaps.append(Gap(name, "not_a_number", why=f"value is {entry.get('MetricValue')!r:.40}"))
        else:
            metrics[name] = value
    if not metrics and not gaps:
        gaps.append(Gap("metrics", "not_reported", why="no values in the report"))
    if any(name.startswith(("Max", "Min", "Average")) for name in metrics):
        gaps.append(Gap("time window of the extremes", "not_reported", why="the report names none"))
    more: dict[str, Any] = {
        "metrics": metrics,
        "unit": "W" if metrics and all(name.endswith("Watts") for name in metrics) else None,
        "window": "unknown",
        "usable_for_capacity": False,
        "planning_w": number(context.get("declared_max_w")),
    }
    return Reading("redfish_metric_report", (), tuple(gaps), more=more)


def read_chassis(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """A chassis: its MaxPowerWatts is mostly what the supplies could deliver together."""
    body = load("redfish_chassis", text, context, {"verdict": "unknown"})
    if isinstance(body, Reading):
        return body
    most = number(body.document.get("MaxPowerWatts"))
    supplies = re.search(r"(\d+)\s*x\s*(\d+)\s*W", str(context.get("psus", "")))
    together = int(supplies.group(1)) * int(supplies.group(2)) if supplies else None
    planning, feed = number(context.get("declared_max_w")), number(context.get("feed_usable_kw_80"))
    meaning = "psu_capacity" if most is not None and together == most else "unknown"
    more: dict[str, Any] = {
        "resources": {body.path: {"verdict": status_verdict(body.document)}},
        "max_power_w": None if most is None else {"value": most, "meaning": meaning},
        "draw_w": None,
        "planning_w": planning,
        "nodes_on_feed": int(feed * 1000 // planning) if planning and feed else None,
    }
    gaps = [Gap("power draw", "not_reported", why="not in the chassis resource")]
    if "Status" in body.repeated:
        gaps.append(Gap(f"status of {last(body.path)}", "contradictory", why="key Status twice, with different values"))
    return Reading("redfish_chassis", _bad(more["resources"]), tuple(gaps), more=more)


def _bad(resources: Mapping[str, Mapping[str, Any]]) -> tuple[Problem, ...]:
    return tuple(
        Problem(path, f"health_{body['verdict']}", "node", "look")
        for path, body in resources.items()
        if body.get("verdict") in ("warning", "critical")
    )


def read_processor(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """A processor or accelerator. A key given twice with different values is no answer; the others may be used."""
    body = load("redfish_processor", text, context, {"verdict": "unknown"})
    if isinstance(body, Reading):
        return body
    document, name = body.document, last(body.path)
    serial = document.get("SerialNumber")
    resource = {
        "verdict": status_verdict(document),
        "serial": serial.strip() if isinstance(serial, str) and "SerialNumber" not in body.repeated else None,
    }
    gaps = [
        Gap(f"{key.lower()} of {name}", "contradictory", why=f"key {key} twice, with different values")
        for key in sorted(body.repeated)
    ]
    if not gaps and resource["verdict"] == "unknown":
        gaps.append(Gap(f"status of {name}", "not_reported", why="no health in the resource"))
    return Reading(
        "redfish_processor", _bad({body.path: resource}), tuple(gaps), more={"resources": {body.path: resource}}
    )


def _capacity(supply: Mapping[str, Any], volts: int | float | None) -> int | float | None:
    """The capacity at the line voltage where ranges are given, else the nominal one."""
    for entry in map(mapping, sequence(supply.get("InputRanges"))):
        word = str(entry.get("NominalVoltageType", ""))
        for prefix, low, high in _RANGES:
            if word.startswith(prefix) and volts is not None and low <= volts <= high:
                return number(entry.get("CapacityWatts"))
    return number(supply.get("PowerCapacityWatts"))


def subsystem(documents: Mapping[str, Mapping[str, Any]], context: Context) -> tuple[dict[str, Any], list[Problem]]:
    """Supplies and their redundancy: what is present counts, and nothing needs to say that it is unhealthy."""
    groups = {p: d for p, d in documents.items() if "PowerSubsystem." in str(d.get("@odata.type"))}
    supplies = {p: d for p, d in documents.items() if "PowerSupply." in str(d.get("@odata.type"))}
    if not groups and not supplies:
        return {}, []
    volts = number(context.get("line_voltage_v"))
    resources: dict[str, dict[str, Any]] = {}
    findings: list[Problem] = []
    total: int | float = 0
    present = 0
    for path, supply in supplies.items():
        verdict = status_verdict(supply)
        resources[path] = {"verdict": verdict}
        if verdict != "absent":
            present += 1
            capacity = _capacity(supply, volts)
            resources[path]["capacity_w"] = capacity
            total += capacity or 0
            if verdict in ("warning", "critical"):
                findings.append(Problem(path, "power_supply_failed", "node", "hands"))
    declared = context.get("declared_psus")
    declared = declared if isinstance(declared, int) else len(supplies)
    more: dict[str, Any] = {"psus_present": present, "psus_declared": declared, "capacity_w": total or None}
    for path, group in groups.items():
        verdict, redundant, problems = _group(path, group, present, declared, total)
        resources[path] = {"verdict": verdict}
        findings.extend(problems)
        more.update(redundant=redundant, allocated_w=number(mapping(group.get("Allocation")).get("AllocatedWatts")))
    return {**more, "resources": resources}, findings


def _group(
    path: str, group: Mapping[str, Any], present: int, declared: int, total: int | float
) -> tuple[str, bool, list[Problem]]:
    findings: list[Problem] = []
    rows = [mapping(row) for row in sequence(group.get("PowerSupplyRedundancy"))]
    needed = max((int(number(row.get("MinNeededInGroup")) or 1) for row in rows), default=1)
    words = [str(mapping(row.get("Status")).get("State", "Enabled")) for row in rows]
    redundant = bool(rows) and present > needed and all(word == "Enabled" for word in words)
    if declared > needed and not redundant and (rows or present < declared):
        findings.append(Problem(path, "redundancy_lost", "node", "hands"))
    allocated = number(mapping(group.get("Allocation")).get("AllocatedWatts"))
    if allocated is not None and total and allocated > total:
        findings.append(Problem(path, "allocated_above_capacity", "node", "hands"))
    status = status_verdict(group)
    return ("warning" if findings and status in ("ok", "unknown") else status), redundant, findings
