"""Redfish: logs, bundles of resources of one BMC, and the entry points of the other Redfish readers."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fleet.readers import redfish_power
from fleet.readers.reading import Beside, Context, Gap, Problem, Reading, Text
from fleet.readers.records import moment
from fleet.readers.redfish_body import last, load
from fleet.readers.redfish_sensor import judge_sensor, status_verdict
from fleet.readers.text import mapping, sequence

_KEY = "@odata.id"


def read_response(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """Any answer, only to see whether it can be used."""
    body = load("redfish_response", text, context, {"verdict": "unknown"})
    if isinstance(body, Reading):
        return body
    response = {"usable": True, "retry": False, "bmc_broken": False}
    resources = {body.path: {"verdict": status_verdict(body.document)}}
    return Reading("redfish_response", more={"response": response, "resources": resources})


def read_error(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """An error answer: what it asks for before it can be tried again."""
    body = load("redfish_error", text, context, {"verdict": "unknown"})
    if isinstance(body, Reading):
        return body
    gap = Gap("error of the BMC", "not_reported", why="no error in the body")
    return Reading(
        "redfish_error", gaps=(gap,), more={"response": {"usable": True, "retry": False, "bmc_broken": False}}
    )


def read_log(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """Log entries: `Id` repeats and `@odata.id` does not; time orders them, not their place."""
    body = load("redfish_log_entries", text, context, {"verdict": "unknown"})
    if isinstance(body, Reading):
        return body
    entries = [dict(mapping(entry)) for entry in sequence(body.document.get("Members"))]
    gaps: list[Gap] = []
    dated = []
    for at, entry in enumerate(entries):
        when = moment(str(entry.get("Created", "")).replace("Z", "+00:00"))
        if when is None:
            gaps.append(Gap(f"time of {entry.get(_KEY, at)}", "impossible_time", why="Created is no time"))
        dated.append((when.timestamp() if when and when.tzinfo else -1.0, _ordinal(str(entry.get(_KEY, ""))), entry))
    dated.sort(key=lambda row: row[:2])
    keys = [str(entry.get(_KEY, "")) for *_, entry in dated]
    new = _new(keys, context.get("last_seen_key"), gaps)
    events = [
        {
            "key": key,
            "code": entry.get("EntryCode"),
            "at": _utc(entry.get("Created")),
            "severity": entry.get("Severity"),
        }
        for key, (*_, entry) in zip(keys, dated, strict=True)
    ]
    more = {"entries": len(entries), "new_entries": new, "key": _KEY, "events": events}
    return Reading("redfish_log_entries", _open(dated, new), tuple(gaps), more=more)


def _ordinal(key: str) -> int:
    found = re.search(r"(\d+)$", key)
    return int(found.group(1)[:15]) if found else -1


def _utc(value: Any) -> str | None:
    when = moment(str(value).replace("Z", "+00:00")) if value else None
    if when is None or when.tzinfo is None:
        return None
    offset = when.utcoffset()
    shifted = (when - offset).replace(tzinfo=None) if offset is not None else when.replace(tzinfo=None)
    return f"{shifted.isoformat()}Z"


def _new(keys: list[str], seen: Any, gaps: list[Gap]) -> list[str]:
    """What came after the entry seen last. A log whose numbers begin anew was cleared, and all of it is new."""
    if not isinstance(seen, str):
        return keys
    if seen in keys:
        return keys[keys.index(seen) + 1 :]
    if keys and max(map(_ordinal, keys)) < _ordinal(seen):
        gaps.append(Gap(f"entries after {last(seen)}", "records_lost", why="the log was cleared"))
        return keys
    return [key for key in keys if _ordinal(key) > _ordinal(seen) or _ordinal(key) < 0]


def _open(dated: Sequence[tuple[float, int, Mapping[str, Any]]], new: list[str]) -> tuple[Problem, ...]:
    """New entries of a severity that stand: a later deassertion of the same sensor ends an assertion."""
    standing: dict[tuple[Any, Any], Problem] = {}
    for *_, entry in dated:
        same = (entry.get("SensorNumber", entry.get("SensorType")), entry.get("MessageId"))
        severity = str(entry.get("Severity"))
        if str(entry.get("EntryCode")) == "Deassert" or severity == "OK":
            standing.pop(same, None)
        elif severity in ("Warning", "Critical") and entry.get(_KEY) in new:
            more = {"severity": severity.lower(), "text": str(entry.get("Message"))[:200]}
            standing[same] = Problem(str(entry.get(_KEY)), "log_entry", "node", "look", more)
    return tuple(standing.values())


def read_bundle(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """Several resources of one BMC as `{path: body}`; paths are the identity, `Id` is not."""
    body = load("redfish_bundle", text, context, {"verdict": "unknown"})
    if isinstance(body, Reading):
        return body
    documents = {
        str(path): mapping(document) for path, document in body.document.items() if isinstance(document, Mapping)
    }
    resources: dict[str, Any] = {}
    findings: list[Problem] = []
    gaps: list[Gap] = [Gap(path, "contradictory", why="the path stands twice") for path in sorted(body.repeated)]
    off = _systems(documents, context, resources, findings, gaps)
    unknown = _sensors(documents, resources, findings, gaps, off=off)
    more: dict[str, Any] = {"resources": resources}
    if unknown:
        more["sensors_unknown"] = unknown
    power, problems = redfish_power.subsystem(documents, context)
    resources.update(power.pop("resources", {}))
    more.update(power)
    findings.extend(problems)
    more.update(_ports(documents, context, gaps))
    return Reading("redfish_bundle", tuple(findings), tuple(gaps), more=more)


def _systems(
    documents: Mapping[str, Mapping[str, Any]],
    context: Context,
    resources: dict[str, Any],
    findings: list[Problem],
    gaps: list[Gap],
) -> bool:
    """Verdicts of systems, chassis and processors; True while a system is off, when rollups mislead."""
    off = False
    for path, document in documents.items():
        kind = str(document.get("@odata.type"))
        if not re.match(r"#(?:ComputerSystem|Chassis|Processor|Manager|Memory|Drive)\.", kind):
            continue
        resources[path] = {"verdict": status_verdict(document)}
        if kind.startswith("#ComputerSystem"):
            resources[path]["power"] = document.get("PowerState")
            if document.get("PowerState") == "Off":
                off = True
                resources[path]["verdict"] = "not_judged"
                gaps.append(Gap(f"health of {context.get('node', path)}", "not_measured", why="power is off"))
                if context.get("power_wanted") == "On":
                    findings.append(Problem(path, "power_off", "node", "ask_why_it_is_off"))
                continue
        if resources[path]["verdict"] in ("warning", "critical"):
            findings.append(Problem(path, f"health_{resources[path]['verdict']}", "node", "look"))
    return off


def _sensors(
    documents: Mapping[str, Mapping[str, Any]],
    resources: dict[str, Any],
    findings: list[Problem],
    gaps: list[Gap],
    *,
    off: bool,
) -> int:
    """Sensors of both makes; how many say that they do not know."""
    unknown = 0
    for path, document in documents.items():
        kind = str(document.get("@odata.type"))
        if kind.startswith("#Sensor."):
            resources[path], more = judge_sensor(document, path, power_off=off)
            gaps.extend(more)
        elif kind.startswith("#DellSensorCollection"):
            for member in map(mapping, sequence(document.get("Members"))):
                where = str(member.get(_KEY))
                word = str(member.get("HealthState"))
                unknown += word not in ("OK", "Warning", "Critical")
                verdict = {"OK": "ok", "Warning": "warning", "Critical": "critical"}.get(word)
                resources[where] = {"verdict": verdict or ("not_judged" if off else "unknown")}
                if verdict is None and not off:
                    gaps.append(
                        Gap(
                            str(member.get("ElementName") or last(where)), "not_measured", why="the sensor says Unknown"
                        )
                    )
        else:
            continue
        if not off and resources.get(path, {}).get("verdict") in ("warning", "critical"):
            findings.append(Problem(path, f"sensor_{resources[path]['verdict']}", "node", "look"))
    return unknown


def _mac(value: Any) -> str | None:
    return (
        value.lower()
        if isinstance(value, str) and re.fullmatch(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}", value)
        else None
    )


def _ports(documents: Mapping[str, Mapping[str, Any]], context: Context, gaps: list[Gap]) -> dict[str, Any]:
    """Ports with their addresses: from the port, or through the device function that names it."""
    ports: dict[str, str | None] = {}
    for path, document in documents.items():
        if re.match(r"#(?:NetworkPort|Port)\.", str(document.get("@odata.type"))):
            own = [mac for value in sequence(document.get("AssociatedNetworkAddresses")) if (mac := _mac(value))]
            ethernet = [
                mac
                for value in sequence(mapping(document.get("Ethernet")).get("AssociatedMACAddresses"))
                if (mac := _mac(value))
            ]
            ports[path] = next(iter(own or ethernet), None)
    if not ports:
        return {}
    for document in documents.values():
        if not str(document.get("@odata.type")).startswith("#NetworkDeviceFunction."):
            continue
        links = mapping(document.get("Links"))
        named = [
            links.get("PhysicalPortAssignment"),
            document.get("PhysicalPortAssignment"),
            links.get("PhysicalNetworkPortAssignment"),
        ]
        ethernet_ = mapping(document.get("Ethernet"))
        mac = _mac(ethernet_.get("MACAddress")) or _mac(ethernet_.get("PermanentMACAddress"))
        for target in (mapping(link).get(_KEY) for link in named):
            if isinstance(target, str) and target in ports and ports[target] is None:
                ports[target] = mac
    gaps.extend(
        Gap(f"address of {path}", "not_reported", why="no function names the port")
        for path, mac in ports.items()
        if mac is None
    )
    boot = _mac(context.get("boot_nic_mac"))
    found = [path for path, mac in ports.items() if mac is not None and mac == boot]
    return {"ports": ports, "port_count": len(ports), "boot_port": found[0] if len(found) == 1 else None, "key": _KEY}
