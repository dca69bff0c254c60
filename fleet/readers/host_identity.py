"""Who a host is: fields that tell it apart from all others. Placeholders of board makers are no serials, and GPUs
are replaced.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Problem, Reading, Text
from fleet.readers.text import decode, mapping, parse_json, printable, sequence

_PLACEHOLDERS = re.compile(
    r"(?:to be filled by o\.?e\.?m\.?|default string|none|null|n/?a|"
    r"not (?:specified|available|applicable|present)|unknown|"
    r"system (?:serial number|manufacturer|product name|version)|chassis serial number|"
    r"base board serial number|empty|no dimm|"
    r"0+|1+|x+|f+|-+|\.+|0?123456789\w*|invalid|oem|serial|asset)?",
    re.I,
)
_KNOWN_UUIDS = (
    "03000200-0400-0500-0006-000700080009",
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "00020003-0004-0005-0006-000700080009",
    "12345678-1234-5678-90ab-cddeefaabbcc",
    "4c4c4544-0000-2010-8020-80c04f202020",
)
_DMI = ("product_serial", "board_serial", "chassis_serial")
_RACK = ("chassis_serial", "slot_number", "tray_index")


def real(value: Any) -> str | None:
    """A serial that may identify something; None for a placeholder."""
    if not isinstance(value, str | int) or isinstance(value, bool):
        return None
    text = str(value).strip()
    return None if _PLACEHOLDERS.fullmatch(text) else printable(text)


def real_uuid(value: Any) -> str | None:
    """A system UUID that is not the default of many boards."""
    text = real(value)
    return None if text is None or text.lower() in _KNOWN_UUIDS else text


def _rack_place(host: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Rack chassis, slot and tray, if all GPUs of the host agree on them. 0 is a place."""
    places = {
        tuple(_part(mapping(mapping(gpu).get("platform_info")).get(key)) for key in _RACK)
        for gpu in sequence(host.get("gpus"))
    }
    if len(places) != 1:
        return None
    place = places.pop()
    return None if any(part is None for part in place) or real(place[0]) is None else place


def _part(value: Any) -> str | int | None:
    """A part of a place: text or a number, nothing else."""
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None


def _candidates(host: Mapping[str, Any]) -> dict[str, str | None]:
    fields: dict[str, str | None] = {f"dmi_data.{key}": real(mapping(host.get("dmi_data")).get(key)) for key in _DMI}
    if "tpm_ek_certificate" in host:
        fields["tpm_ek_certificate"] = real(host.get("tpm_ek_certificate"))
    return fields


def _identify(hosts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The first key under which every host that has it is alone: rack place, then serials."""
    places = {name: _rack_place(host) for name, host in hosts.items()}
    fields = {name: _candidates(host) for name, host in hosts.items()}
    names = list(dict.fromkeys(key for row in fields.values() for key in row))
    not_unique = [key for key in names if not _unique([row.get(key) for row in fields.values()], whole=True)]
    identity: dict[str, Any] = {
        "hosts": len(hosts),
        "key": None,
        "keys": dict.fromkeys(hosts),
        "not_unique": not_unique,
    }
    if all(place is not None for place in places.values()) and _unique(list(places.values()), whole=True):
        identity["key"] = [f"platform_info.{key}" for key in _RACK]
        identity["keys"] = {name: list(place or ()) for name, place in places.items()}
        return identity
    usable = [key for key in names if _unique([row.get(key) for row in fields.values()], whole=False)]
    best = max(usable, key=lambda key: sum(row.get(key) is not None for row in fields.values()), default=None)
    if best is not None:
        identity["key"] = [best]
        identity["keys"] = {name: [value] if (value := row.get(best)) else None for name, row in fields.items()}
        identity["not_unique"] = [key for key in not_unique if key != best]
    return identity


def _unique(values: Sequence[Any], *, whole: bool) -> bool:
    present = [value for value in values if value is not None]
    return bool(present) and len(set(present)) == len(present) and (not whole or len(present) == len(values))


def read_host_info(text: Text, context: Context, also: Sequence[Beside] = ()) -> Reading:
    """What hosts say of themselves, one document per host."""
    name = str(context.get("file") or "host")
    inputs = sorted([(beside.name, decode(beside.content)) for beside in also] + [(name, decode(text))])
    hosts: dict[str, Mapping[str, Any]] = {}
    gaps: list[Gap] = []
    for title, content in inputs:
        document = parse_json(content)
        if isinstance(document, Mapping):
            hosts[title] = document
        else:
            gaps.append(Gap(title, "unparseable_line" if content.strip() else "empty_output"))
    if not hosts:
        return Reading(
            "host_info", gaps=tuple(gaps), more={"identity": {"hosts": 0, "key": None, "keys": {}, "not_unique": []}}
        )
    identity = _identify(hosts)
    findings = _shared(hosts)
    gaps.extend(_nameless(identity))
    return Reading("host_info", tuple(findings), tuple(gaps), more={"identity": identity})


def _shared(hosts: Mapping[str, Mapping[str, Any]]) -> list[Problem]:
    """Hosts with one product serial: somebody wrote it twice."""
    by_serial: dict[str, list[str]] = {}
    for name, host in hosts.items():
        if serial := real(mapping(host.get("dmi_data")).get("product_serial")):
            by_serial.setdefault(serial, []).append(name)
    return [
        Problem(", ".join(names), "same_product_serial", "config", "change_request")
        for names in by_serial.values()
        if len(names) > 1
    ]


def _nameless(identity: Mapping[str, Any]) -> list[Gap]:
    return [
        Gap(f"identity of {name}", "identity_unknown", why="every serial is a placeholder")
        for name, key in identity["keys"].items()
        if not key
    ]


def read_host_list(text: Text, _context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """Hosts in one list. A host without one stable field is not enrolled."""
    document = parse_json(decode(text))
    hosts = {
        printable(str(mapping(entry).get("file_of") or mapping(entry).get("name") or f"host {at}")): mapping(entry)
        for at, entry in enumerate(sequence(document), 1)
    }
    if not hosts:
        reason = "unparseable_line" if decode(text).strip() else "empty_output"
        return Reading("host_info_list", gaps=(Gap("hosts", reason),))
    identity = _identify(hosts)
    enrol = {name: bool(key) for name, key in identity["keys"].items()}
    gaps = _nameless(identity)
    return Reading("host_info_list", tuple(_shared(hosts)), tuple(gaps), more={"identity": identity, "enrol": enrol})


def read_lshw(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`lshw -json`: memory hangs on banks, over several memory nodes, or in older forms on one node."""
    document = parse_json(decode(text))
    top = mapping(document[0] if isinstance(document, list) and document else document)
    if not top:
        reason = "unparseable_line" if decode(text).strip() else "empty_output"
        return Reading("lshw_json", gaps=(Gap("hardware", reason),))
    nodes = _walk(top)
    banks = [node for node in nodes if str(node.get("id", "")).startswith("bank")]
    filled = [node for node in banks if isinstance(node.get("size"), int) and node["size"] > 0]
    size = sum(node["size"] for node in filled)
    if not banks:
        size = sum(
            node["size"]
            for node in nodes
            if node.get("class") == "memory"
            and isinstance(node.get("size"), int)
            and re.fullmatch(r"memory(?::\d+)?", str(node.get("id")))
        )
    serial = real(top.get("serial"))
    told = mapping(top.get("configuration")).get("uuid")
    uuid = real_uuid(told)
    gib = round(size / (1 << 30), 2) if size else None
    more: dict[str, Any] = {
        "memory_gib": int(gib) if gib is not None and gib == int(gib) else gib,
        "dimms": len(filled) if banks else None,
        "empty_slots": len(banks) - len(filled) if banks else None,
        "identity": {"serial": serial, "uuid": uuid},
    }
    gaps: list[Gap] = []
    if gib is None:
        gaps.append(Gap("memory size", "not_reported", why="no size on any memory node or bank"))
    if uuid is None:
        gaps.append(Gap("system uuid", "identity_unknown", why="well-known placeholder" if told else "not told"))
    if serial is None:
        gaps.append(Gap("system serial", "identity_unknown", why="placeholder" if top.get("serial") else "not told"))
    declared = context.get("declared_memory_gib")
    findings: tuple[Problem, ...] = ()
    if isinstance(declared, int) and gib is not None and gib < declared:
        detail = {"found": gib, "expected": declared}
        findings = (Problem(str(context.get("node", "node")), "memory_below_declared", "node", "hands", detail),)
    return Reading("lshw_json", findings, tuple(gaps), more=more)


def _walk(top: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    out: list[Mapping[str, Any]] = []
    work: list[Mapping[str, Any]] = [top]
    while work and len(out) < 100_000:
        node = work.pop()
        out.append(node)
        work.extend(mapping(child) for child in reversed(sequence(node.get("children"))))
    return out
