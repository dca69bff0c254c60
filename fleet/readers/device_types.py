"""NetBox device types: community data with holes. Unknown is not zero, and numbers that contradict the data sheet
are unusable.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Reading, Text
from fleet.readers.text import decode, mapping, number, parse_yaml, sequence, spelled

_TYPE_GBPS = re.compile(r"(\d+)gbase")
_KG = {"kg": 1.0, "g": 0.001, "lb": 0.45359237, "oz": 0.028349523}


def _entries(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [mapping(entry) for entry in sequence(document.get(key))]


def _power(document: Mapping[str, Any], sheet: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Whether the type may be used in a power budget, and the gap if not."""
    ports = _entries(document, "power-ports")
    draws = [number(port.get("maximum_draw")) for port in ports]
    bays = [bay for bay in _entries(document, "module-bays") if re.search(r"psu|power", str(bay.get("name", "")), re.I)]
    if not ports:
        why = "PSUs are module bays, no power ports" if bays else "no power ports listed"
        return {"usable": False, "max_w": None, "why": why}, "no power-ports"
    if any(draw is None for draw in draws):
        return {"usable": False, "max_w": None, "why": "power ports without maximum_draw"}, "no maximum_draw"
    total = sum(draw for draw in draws if draw is not None)
    told = number(sheet.get("max_w"))
    supplies = re.match(r"\s*(\d+)\s*x", str(sheet.get("psu", "")))
    if told is not None and abs(total - told) > 0.1 * told:
        why = f"ports sum to {total} W, text and data sheet say {told} W"
        if supplies and int(supplies.group(1)) != len(ports):
            why += f"; {spelled(len(ports))} ports, the data sheet has {spelled(int(supplies.group(1)))} supplies"
        return {"usable": False, "max_w": None, "why": why}, None
    return {"usable": True, "max_w": total, "why": "ports with maximum_draw"}, None


def _kind(document: Mapping[str, Any], sheet: Mapping[str, Any], fast: Sequence[Mapping[str, Any]]) -> str:
    words = f"{document.get('model', '')} {document.get('comments', '')} {sheet.get('kind', '')}".lower()
    if re.search(r"coolant|\bcdu\b|cooling", words):
        return "cooling"
    if re.search(r"\bpdu\b|power distribution", words):
        return "power"
    if sheet.get("gpus") or re.search(r"\bgpus?\b|\bdgx\b|\bhgx\b|server", words):
        return "server"
    return "switch" if len(fast) >= 8 else "server" if document.get("power-ports") else "other"


def read(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """One device type."""
    decoded = decode(text)
    document = mapping(parse_yaml(decoded))
    if not document:
        reason = "unparseable_line" if decoded.strip() else "empty_output"
        return Reading("netbox_device_type", gaps=(Gap("device type", reason),))
    sheet = mapping(context.get("hardware_yaml"))
    interfaces = _entries(document, "interfaces")
    fast = [entry for entry in interfaces if not entry.get("mgmt_only")]
    kind = _kind(document, sheet, fast)
    power, no_draw = _power(document, sheet)
    gaps: list[Gap] = []
    more: dict[str, Any] = {"kind": kind, "u_height": number(document.get("u_height")), "power": power}
    weight = number(document.get("weight"))
    factor = _KG.get(str(document.get("weight_unit", "kg")))
    more["weight_kg"] = None if weight is None or factor is None else round(weight * factor, 3)
    bays = [bay for bay in _entries(document, "module-bays") if re.search(r"psu|power", str(bay.get("name", "")), re.I)]
    more["psu_bays"] = len(bays)
    more["mgmt_ports"] = len(interfaces) - len(fast)
    if kind == "switch":
        _switch(fast, sheet, more, gaps)
    elif kind == "server":
        _server(fast, document, sheet, more, gaps)
    elif kind == "cooling":
        _cooling(document, sheet, more, gaps)
    if no_draw:
        gaps.append(Gap("own power draw" if kind == "cooling" else "power draw", "not_reported", why=no_draw))
    return Reading("netbox_device_type", gaps=tuple(gaps), more=more)


def _switch(fast: Sequence[Mapping[str, Any]], sheet: Mapping[str, Any], more: dict[str, Any], gaps: list[Gap]) -> None:
    """Ports against the data sheet; a naming pattern shows which are missing."""
    speeds = {int(found.group(1)) for entry in fast if (found := _TYPE_GBPS.match(str(entry.get("type"))))}
    by_sheet = number(sheet.get("ports"))
    more.update(
        ports_listed=len(fast), ports_by_data_sheet=by_sheet, port_gbps=speeds.pop() if len(speeds) == 1 else None
    )
    more["use_ports"] = by_sheet if by_sheet is not None else len(fast)
    missing = (
        _missing([str(entry.get("name")) for entry in fast])
        if isinstance(by_sheet, int) and len(fast) < by_sheet
        else []
    )
    if isinstance(by_sheet, int) and len(fast) < by_sheet:
        more["missing_ports"] = missing if len(missing) == by_sheet - len(fast) else []
        gaps.append(Gap(f"{by_sheet - len(fast)} ports", "missing_from_report", why="missing from the list"))
    plus = re.match(r"\s*(\d+)\s*x\s*(\d+G)", str(sheet.get("plus", "")))
    if plus and not any(
        plus.group(2).lower() in str(entry.get("type")).lower()
        for entry in fast
        if "800g" not in str(entry.get("type"))
    ):
        count = int(plus.group(1))
        what = f"the {plus.group(2)} port" if count == 1 else f"the {count} {plus.group(2)} ports"
        gaps.append(Gap(what, "missing_from_report", why="in the data sheet, not in the file"))


def _missing(names: Sequence[str]) -> list[str]:
    """Names that a regular series `P<n>.<m>` or `swp<n>` lacks."""
    found = [re.fullmatch(r"(\D*)(\d+)(?:(\D)(\d+))?", name) for name in names]
    parts = [hit.groups() for hit in found if hit]
    if len(parts) != len(names) or not parts:
        return []
    head, glue = parts[0][0], parts[0][2]
    numbers = [int(part[1]) for part in parts]
    subs: list[int | None] = [*sorted({int(part[3]) for part in parts if part[3] is not None})] or [None]
    span = range(min(numbers), max(numbers) + 1)
    if len(span) > 4096:
        return []
    wanted = [f"{head}{at}" if sub is None else f"{head}{at}{glue}{sub}" for at in span for sub in subs]
    return [name for name in wanted if name not in set(names)]


def _server(
    fast: Sequence[Mapping[str, Any]],
    document: Mapping[str, Any],
    sheet: Mapping[str, Any],
    more: dict[str, Any],
    gaps: list[Gap],
) -> None:
    """A server with the ports of a switch was pasted together: plan with the data sheet."""
    nics = [int(count) for count in re.findall(r"(\d+)(?: x|\b(?!\d*G))", str(sheet.get("nics", "")))]
    expected = sum(nics) if nics else None
    usable = expected is None or len(fast) <= 2 * expected
    more["ports_usable"] = usable and len(fast) < 24
    if not more["ports_usable"]:
        gaps.append(Gap("network ports", "implausible", why=f"{len(fast)} switch ports in a server"))
    told = number(sheet.get("max_w"))
    more["planning_w"] = more["power"]["max_w"] if more["power"]["usable"] else told
    more["planning_from"] = "power ports" if more["power"]["usable"] else "hardware.yaml" if told is not None else None
    if more["weight_kg"] is None:
        in_text = re.search(r"[Ww]eight", str(document.get("comments", "")))
        gaps.append(Gap("weight", "not_reported", why="only in the comments" if in_text else "not in the file"))


def _cooling(document: Mapping[str, Any], sheet: Mapping[str, Any], more: dict[str, Any], gaps: list[Gap]) -> None:
    """A capacity that stands only in free text needs a second source."""
    text = re.search(r"(\d+(?:\.\d+)?)\s*kW", str(document.get("comments", "")))
    written = float(text.group(1)) * 1000 if text else None
    told = number(sheet.get("capacity_w"))
    more["cooling_capacity_w"] = told if told is not None and (written is None or written == told) else None
    if told is not None and written == told:
        more["capacity_from"] = "comments, confirmed by hardware.yaml"
    elif told is not None and written is None:
        more["capacity_from"] = "hardware.yaml"
    else:
        why = f"comments say {written} W, hardware.yaml {told} W" if told is not None else "only in the comments"
        gaps.append(Gap("cooling capacity", "contradictory" if told is not None else "not_reported", why=why))
    gaps.append(Gap("flow and supply temperature", "not_reported", why="not in the file"))
