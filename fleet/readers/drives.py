"""Drives: what they could do to erase themselves, by `wipe_methods.yaml`. Capabilities, never results.

Only the line "not frozen" permits an ATA erase: what is missing is not "not". An overwrite of flash is a clear at
best. NVMe capabilities are bits, and one of them makes an erase of one namespace an erase of all.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fleet import facts
from fleet.readers.reading import Beside, Context, Gap, Problem, Reading, Text
from fleet.readers.text import decode, lines, mapping, number, parse_json, printable, sequence

_ENHANCED, _OVERWRITE = "ata-secure-erase-enhanced", {"sata-ssd": "ssd-overwrite", "sata-hdd": "hdd-overwrite"}
_SANITIZE = (
    ("nvme-sanitize-crypto", "crypto", 0),
    ("nvme-sanitize-block", "block", 1),
    ("nvme-sanitize-overwrite", "overwrite", 2),
)
_SECURITY = {"supported: enhanced erase": "enhanced_erase"} | {
    word: word for word in ("supported", "enabled", "locked", "frozen")
}
Answer = bool | str
Rows = list[dict[str, Any]]


def grade(method: str, *, trusted: bool) -> str:
    """The grade that a method may claim, from its row; where the row leaves it to the vendor, trust decides."""
    rows: list[dict[str, Any]] = facts.document("wipe_methods")["methods"]
    row = next((row for row in rows if row["id"] == method), dict[str, Any]())
    level = str(row.get("level", ""))
    if level.startswith("clear"):
        return "clear"
    depends = "depends on vendor" in level or "only if" in level
    return "purge" if level.startswith("purge") and (trusted or not depends) else "clear"


def _wipe(permitted: Rows, refused: Rows, way_out: str | None, *, known: bool = True) -> dict[str, Any]:
    grades = {row["grade"] for row in permitted}
    out: dict[str, Any] = {
        "permitted": permitted,
        "refused": refused,
        "verdict_for": {
            "clear": "proceed" if grades else "refuse",
            "purge": "proceed" if "purge" in grades and known else "refuse",
        },
    }
    if way_out is not None:
        out["way_out"] = way_out
    return out


def _security(text: str) -> tuple[dict[str, Answer], bool]:
    """The Security block, line by line as a whole; True if the output goes on behind the block."""
    states: dict[str, Answer] = dict.fromkeys(("supported", "enabled", "locked", "frozen", "enhanced_erase"), "unknown")
    inside = seen = behind = False
    for _, line in lines(text):
        if line.rstrip() == "Security:":
            inside = seen = True
            continue
        if inside and line[:1] not in ("\t", " "):
            inside, behind = False, behind or bool(line.strip())
        words = line.split()
        name = _SECURITY.get(" ".join(words[1:] if words[:1] == ["not"] else words)) if inside else None
        if name is not None:
            states[name] = words[0] != "not"
    if not seen and re.search(r"(?m)^Checksum:", text):
        states = dict.fromkeys(states, False)
        behind = True
    return states, behind


def read_hdparm(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`hdparm -I`."""
    decoded = decode(text)
    serial = re.search(r"(?m)^\s*Serial Number:\s*(\S.*?)\s*$", decoded)
    states, _ = _security(decoded)
    drive: dict[str, Any] = {"serial": printable(serial.group(1)) if serial else None, **states}
    if not decoded.strip():
        return Reading("hdparm_identify", gaps=(Gap("drive", "empty_output"),), more={"drive": None})
    medium = context.get("medium")
    if not isinstance(medium, str):
        medium = "sata-ssd" if "Solid State Device" in decoded else "sata-hdd"
    sanitize = "SANITIZE" in decoded
    wipe, unknown = _ata(states, medium, sanitize=sanitize, trusted=context.get("vendor_erase_trusted") is True)
    gaps: list[Gap] = []
    if unknown:
        named = " and ".join(name.replace("_", " ") for name in unknown)
        gaps.append(Gap(named, "truncated_line", why="output ends inside the Security block"))
    if "serial_in_inventory" in context and context["serial_in_inventory"] != drive["serial"]:
        gaps.append(Gap("identity of the drive", "contradictory", why="the serial is not that of the inventory"))
    return Reading("hdparm_identify", (), tuple(gaps), more={"drive": drive, "wipe": wipe})


def _ata(
    states: Mapping[str, Answer], medium: str, *, sanitize: bool, trusted: bool
) -> tuple[dict[str, Any], list[str]]:
    overwrite = _OVERWRITE.get(medium, "ssd-overwrite")
    permitted: Rows = []
    refused: Rows = []
    way_out: str | None = None
    unknown = [name for name in ("frozen", "enhanced_erase", "locked", "supported") if states[name] == "unknown"]
    if states["locked"] is True:
        refused += [
            {"method": _ENHANCED, "because": "locked"},
            {"method": overwrite, "because": "locked drive rejects reads and writes"},
        ]
        way_out = "unlock with the password of the aborted erase (NULL or empty), read again; else destroy"
        return _wipe(permitted, refused, way_out), unknown
    because = _why_not(states, unknown)
    if because:
        refused.append({"method": _ENHANCED, "because": because})
        way_out = {"frozen": "power cycle or suspend and resume, then read again"}.get(
            because, "read again" if unknown else "destroy, if purge is needed"
        )
    elif states["enhanced_erase"] is True:
        permitted.append({"method": _ENHANCED, "grade": grade(_ENHANCED, trusted=trusted or medium == "sata-hdd")})
    else:
        permitted.append({"method": _ENHANCED, "grade": "clear", "variant": "fallback: --security-erase"})
        refused.append(
            {"method": _ENHANCED, "variant": "--security-erase-enhanced", "because": "not supported: enhanced erase"}
        )
        way_out = "destroy, if purge is needed"
    if not sanitize and not because and states["enhanced_erase"] is True:
        refused.append({"method": "ata-sanitize", "because": "no SANITIZE feature in the list"})
    elif sanitize:
        permitted.insert(0, {"method": "ata-sanitize", "grade": grade("ata-sanitize", trusted=trusted)})
        way_out = None
    permitted.append({"method": overwrite, "grade": grade(overwrite, trusted=trusted)})
    if way_out is None and not any(row["grade"] == "purge" for row in permitted):
        way_out = "destroy, if purge is needed"
    return _wipe(permitted, refused, way_out), unknown


def _why_not(states: Mapping[str, Answer], unknown: Sequence[str]) -> str | None:
    if states["supported"] is False:
        return "security not supported"
    if states["frozen"] is True:
        return "frozen"
    missing = [name for name in ("supported", "locked", "frozen") if name in unknown]
    return f"{missing[-1]} not known" if missing else None


def read_smartctl(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`smartctl -g security`: where it cannot see the state, something stands between us and the drive."""
    decoded = decode(text)
    found = re.search(r"ATA Security is:\s*(.*)", decoded)
    device = re.search(r"(/dev/\S+)", str(context.get("command", "")))
    name = device.group(1) if device else "the device"
    if found is None:
        reason = "unparseable_line" if decoded.strip() else "empty_output"
        return Reading("smartctl_security", gaps=(Gap(f"security state of {name}", reason),))
    words = found.group(1).strip()
    if words.lower().startswith("unavailable"):
        refused = [
            {"method": _ENHANCED, "because": "ATA commands do not reach the drive"},
            {"method": "ssd-overwrite", "because": "reaches the virtual disk, not its members"},
        ]
        way_out = "raid-controller-vd: delete the virtual disk, give out the members one by one, then decide per drive"
        gap = Gap(f"the drives behind {name}", "not_reported", why="security state unavailable: bridge or RAID volume")
        return Reading("smartctl_security", gaps=(gap,), more={"wipe": _wipe([], refused, way_out)})
    upper = words.upper()
    drive = {
        "enabled": not upper.startswith("DISABLED"),
        "frozen": "FROZEN" in upper and "NOT FROZEN" not in upper,
        "locked": "LOCKED" in upper and "NOT LOCKED" not in upper,
    }
    return Reading("smartctl_security", more={"drive": drive})


def read_nvme(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`nvme id-ctrl -o json`."""
    document = mapping(parse_json(decode(text)))
    oacs, fna = number(document.get("oacs")), number(document.get("fna"))
    if not isinstance(oacs, int) or not isinstance(fna, int):
        reason = "unparseable_line" if decode(text).strip() else "empty_output"
        return Reading("nvme_id_ctrl", gaps=(Gap("controller", reason),), more={"drive": None})
    sanicap = number(document.get("sanicap"))
    gaps: list[Gap] = []
    if not isinstance(sanicap, int):
        gaps.append(Gap("sanitize capabilities", "not_reported", why="no sanicap in the answer"))
        sanicap = 0
    drive: dict[str, Any] = {
        "serial": printable(str(document.get("sn", "")).strip()) or None,
        "sanitize": [word for _, word, bit in _SANITIZE if sanicap >> bit & 1],
        "format": bool(oacs & 2),
        "format_crypto": bool(fna & 4) and bool(oacs & 2),
        "erase_hits_all_namespaces": bool(fna & 2),
    }
    permitted, refused = _nvme_methods(sanicap, oacs, fna, trusted=context.get("vendor_erase_trusted") is True)
    wipe = _nvme_wipe(permitted, refused, drive, context)
    gaps.extend(_namespace_gaps(context, wipe))
    return Reading("nvme_id_ctrl", (), tuple(gaps), more={"drive": drive, "wipe": wipe})


def _nvme_methods(sanicap: int, oacs: int, fna: int, *, trusted: bool) -> tuple[Rows, Rows]:
    permitted: Rows = []
    refused: Rows = []
    for method, _, bit in _SANITIZE:
        if sanicap >> bit & 1:
            permitted.append({"method": method, "grade": grade(method, trusted=trusted)})
        else:
            refused.append({"method": method, "because": f"sanicap bit {bit} clear" if sanicap & 7 else "sanicap 0"})
    for method, needs_crypto in (("nvme-format-crypto", True), ("nvme-format-user", False)):
        if not oacs & 2:
            refused.append({"method": method, "because": "oacs bit 1 clear"})
        elif needs_crypto and not fna & 4:
            refused.append({"method": method, "because": "fna bit 2 clear"})
        else:
            permitted.append({"method": method, "grade": grade(method, trusted=trusted)})
    permitted.append({"method": "ssd-overwrite", "grade": grade("ssd-overwrite", trusted=trusted)})
    return permitted, refused


def _nvme_wipe(permitted: Rows, refused: Rows, drive: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Who else would lose data, and what is left where nothing purges."""
    asked = re.search(r"namespace (\d+)", str(context.get("asked", "")))
    in_use = [
        (key, text)
        for key, text in mapping(context.get("namespaces")).items()
        if asked and str(key) != asked.group(1) and "in use" in str(text)
    ]
    if asked and in_use:
        whole = [
            row for row in permitted if row["method"].startswith("nvme-sanitize") or drive["erase_hits_all_namespaces"]
        ]
        names = ", ".join(f"namespace {key}" for key, _ in in_use)
        why = (
            f"fna bit 1: erases every namespace, {names} is in use"
            if drive["erase_hits_all_namespaces"]
            else f"erases every namespace, {names} is in use"
        )
        refused = [
            *({"method": row["method"], "because": why} for row in whole if row["method"] != "ssd-overwrite"),
            *refused,
        ]
        left = [row for row in permitted if row not in whole]
        tenant = str(in_use[0][1]).partition(",")[0]
        first = next(
            (row["method"].removeprefix("nvme-") for row in whole if row["method"] != "ssd-overwrite"), "a method"
        )
        return _wipe(left, refused, f"drain {tenant} first; then {first} for the whole drive")
    if context.get("need") == "purge" or context.get("asked_for"):
        refused = [*refused, {"method": "blkdiscard", "because": "not a sanitise method"}]
    purges = any(row["grade"] == "purge" for row in permitted)
    return _wipe(
        permitted,
        refused,
        None if purges else "destroy" if context.get("need") == "purge" else "destroy, if purge is needed",
    )


def _namespace_gaps(context: Context, wipe: Mapping[str, Any]) -> list[Gap]:
    known = mapping(context.get("namespaces"))
    if known:
        loose = [str(key) for key, text in known.items() if "unattached" in str(text)]
        return (
            [Gap(f"namespaces {' and '.join(loose)}", "not_reported", why="unattached: content unknown")]
            if loose
            else []
        )
    if wipe["verdict_for"]["purge"] == "proceed":
        return [Gap("unattached namespaces", "not_reported", why="need nvme list-ns --all")]
    return []


def read_mdadm(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`mdadm --detail`: the unit of a wipe is the drive, and a drive that is missing blocks the certificate."""
    decoded = decode(text)
    device = re.search(r"(?m)^(/dev/md\S*):", decoded)
    if device is None:
        reason = "unparseable_line" if decoded.strip() else "empty_output"
        return Reading("mdadm_detail", gaps=(Gap("array", reason),))
    fields = {key.strip(): value.strip() for key, value in re.findall(r"(?m)^\s*([A-Z][\w ]+?) : (.*)$", decoded)}
    members = re.findall(r"(?m)^\s+[-\d]+\s+\d+\s+\d+\s+\S+\s.*?(/dev/\S+)\s*$", decoded)
    declared = [serial for serial in sequence(context.get("inventory_members")) if isinstance(serial, str)]
    serial_of = mapping(context.get("serial_of"))
    seen = [serial for member in members if (serial := _serial_of(member, serial_of)) is not None]
    missing = [serial for serial in declared if serial not in seen]
    unknown = [member for member in members if _serial_of(member, serial_of) is None]
    array = {
        "device": device.group(1),
        "level": fields.get("Raid Level"),
        "state": fields.get("State"),
        "members_seen": members,
        "members_declared": len(declared) or number(fields.get("Raid Devices")),
    }
    scope = {
        "unit": "member drives, not the array",
        "drives": seen,
        "missing": missing,
        "certificate": "refuse" if missing or unknown else "proceed",
        "metadata_methods_grade": "none",
    }
    findings = tuple(Problem(serial, "drive_missing", "node", "hands") for serial in missing)
    gaps = [Gap(serial, "missing_from_report", why="in the inventory, not in the machine") for serial in missing]
    gaps += [Gap(f"serial of {member}", "identity_unknown", why="not told") for member in unknown]
    return Reading("mdadm_detail", findings, tuple(gaps), more={"array": array, "wipe_scope": scope})


def _serial_of(member: str, serial_of: Mapping[str, Any]) -> str | None:
    """The drive's serial by its device, or by the device that a partition is on."""
    whole = (
        re.sub(r"(?<=\d)p\d+$", "", member) if re.search(r"\d+p\d+$", member) else re.sub(r"(?<=[a-z])\d+$", "", member)
    )
    found = serial_of.get(member, serial_of.get(whole))
    return found if isinstance(found, str) else None
