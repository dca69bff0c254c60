"""Files about hosts: firmware queries, Ansible inventories, cluster files with keys that stand twice."""

import re
from collections.abc import Sequence
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Reading, Text
from fleet.readers.text import Repeated, decode, lines, mapping, parse_json, printable

_ABSENT = ("", "NA", "N/A", "null", "none", "None", "TBD")


def read_mstflint(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`mstflint query`: the Running line is printed only where it differs from what is flashed."""
    decoded = decode(text)
    flashed = re.search(r"(?m)^FW Version:\s*(\S+)", decoded)
    running = re.search(r"(?m)^FW Version\(Running\):\s*(\S+)", decoded)
    if flashed is None:
        reason = "unparseable_line" if decoded.strip() else "empty_output"
        return Reading("mstflint_query", gaps=(Gap("firmware", reason),), more={"firmware": None, "needs": None})
    on_flash = printable(flashed.group(1))
    on_chip = printable(running.group(1)) if running else on_flash
    declared = context.get("release_firmware")
    active = on_flash == on_chip
    more: dict[str, Any] = {
        "firmware": {"flashed": on_flash, "running": on_chip, "active": active},
        "needs": None if active else "reset",
        "as_declared": active and on_flash == declared if isinstance(declared, str) else None,
        "flash_again": on_flash != declared if isinstance(declared, str) else None,
    }
    return Reading("mstflint_query", more=more)


def read_ansible_ini(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """An INI inventory. A legal one without a host is refused: success over nothing is the worst answer."""
    groups: dict[str, list[str]] = {}
    hosts: list[str] = []
    section, kind = "ungrouped", "hosts"
    gaps: list[Gap] = []
    for at, raw in lines(decode(text)):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("["):
            found = re.fullmatch(r"\[([^\]:]+)(?::(children|vars|hosts))?\]\s*(?:[#;].*)?", line)
            if found is None:
                gaps.append(Gap(f"line {at}", "unparseable_line", line=at, why="not a section"))
                section, kind = "", "vars"
                continue
            section, kind = found.group(1).strip(), found.group(2) or "hosts"
            groups.setdefault(section, [])
        elif kind == "hosts":
            for name in _expand(line.split()[0]):
                groups.setdefault(section, []).append(name)
                if name not in hosts:
                    hosts.append(printable(name))
        elif kind == "children":
            groups.setdefault(line.split()[0], [])
    declared = context.get("declared_nodes_of_pool")
    missing = declared - len(hosts) if isinstance(declared, int) else 0
    if missing > 0:
        gaps.append(Gap(f"{missing} declared nodes", "missing_from_report", why="not in the inventory"))
    elif not hosts:
        gaps.append(Gap("hosts", "empty_output", why="none in the inventory"))
    more: dict[str, Any] = {
        "valid": not any(gap.reason == "unparseable_line" for gap in gaps),
        "hosts": len(hosts),
        "groups": sorted(name for name in groups if name not in ("all", "ungrouped")),
        "run": "proceed" if hosts and missing <= 0 else "refuse",
    }
    if not hosts:
        more["because"] = "no hosts"
    elif missing > 0:
        more["because"] = "declared nodes are missing"
    return Reading("ansible_inventory_ini", gaps=tuple(gaps), more=more)


def _expand(name: str) -> list[str]:
    """`gpu[01:03]` -> its names."""
    found = re.fullmatch(r"(.*)\[(\d+):(\d+)(?::\d+)?\](.*)", name)
    if not found or len(found.group(3)) > 6:
        return [name]
    head, low, high, tail = found.groups()
    return [f"{head}{str(at).zfill(len(low))}{tail}" for at in range(int(low), int(high) + 1)]


def read_cluster_file(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """A cluster file: a key given twice makes one node disappear and pairs the other with its neighbour's BMC."""
    decoded = decode(text)
    document = parse_json(decoded)
    if not isinstance(document, Repeated):
        why = "not one JSON object" if decoded.strip() else "empty"
        more: dict[str, Any] = {"valid_json": False, "usable": False, "run": "refuse", "because": why}
        return Reading("cluster_file_json", gaps=(Gap("cluster file", "unparseable_line", why=why),), more=more)
    twice = [
        {"path": path, "key": key, "lines": _lines_of(decoded, key)}
        for path, body in (("", document), *document.items())
        if isinstance(body, Repeated)
        for key in body.repeated
    ]
    nodes = mapping(document.get("node_dict"))
    unknown = [name for name, node in nodes.items() if str(mapping(node).get("bmc_ip", "")).strip() in _ABSENT]
    meant = context.get("nodes_meant")
    short = isinstance(meant, int) and len(nodes) < meant
    usable = not twice and not short and bool(nodes)
    out: dict[str, Any] = {
        "valid_json": True,
        "usable": usable,
        "duplicate_keys": twice,
        "bmc_unknown": unknown,
        "nodes": len(nodes) if usable else None,
        "run": "proceed" if usable else "refuse",
    }
    gaps = (
        [Gap(f"{meant - len(nodes)} nodes", "missing_from_report")]
        if isinstance(meant, int) and short and not twice
        else []
    )
    return Reading("cluster_file_json", gaps=tuple(gaps), more=out)


def _lines_of(text: str, key: str) -> list[int]:
    pattern = re.compile(rf"^\s*{re.escape(f'{chr(34)}{key}{chr(34)}')}\s*:")
    return [at for at, line in lines(text) if pattern.match(line)]
