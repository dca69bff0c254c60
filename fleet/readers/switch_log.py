"""NVSwitch lines (SXID): a fatal error on a link is acted on at the GPU on its other end, if the topology knows
that.
"""

import re
from typing import Any

from fleet.readers.log_parts import Log
from fleet.readers.records import Record
from fleet.readers.text import mapping, pci, sequence

_SXID = re.compile(r"nvidia-nvswitch\d*: SXid \(PCI:([0-9a-fA-F:.]+)\): (\d{1,9}), ?(.*)", re.S)
_SEVERITY = re.compile(r"(Fatal|Non-fatal|Nonfatal)(?:, |$)", re.I)
_LINK = re.compile(r"Link (-?\d+)(?=\s)")
_CUT_LINK = re.compile(r"L(?:i(?:n(?:k(?: \d*)?)?)?)?")
_REGISTERS = re.compile(r"(?:Severity \d+ Engine instance|Data \{)")


def take(log: Log, record: Record) -> None:
    """One kernel record of the NVSwitch driver."""
    found = _SXID.match(record.text)
    device = pci(found.group(1)) if found else None
    if not found or device is None:
        if record.text.startswith("nvidia-nvswitch") and "SXid" in record.text[:30]:
            log.gap("SXID line that cannot be read", "unparseable_line", line=record.line)
        return
    code, tail = int(found.group(2)), found.group(3)
    seen = log.scratch.setdefault("sxid", set())
    if _REGISTERS.match(tail):
        if (device, code) not in seen:
            log.add(record, {"sxid": code}, device, ("info", "nvswitch_domain", "none"), detail={"link": None})
            seen.add((device, code))
        return
    seen.add((device, code))
    word = _SEVERITY.match(tail)
    rest = tail[word.end() :] if word else tail
    link = _LINK.match(rest)
    if link is None and _CUT_LINK.fullmatch(rest.strip()):
        log.gap(f"link number of SXID {code}", "truncated_line", device=device, line=record.line)
    number = int(link.group(1)) if link else None
    fatal = bool(word and word.group(1).lower() == "fatal")
    if fatal:
        _fatal(log, record, code, device, number)
        return
    verdict = ("warn", "nvswitch_domain", "none" if word else "check_fabric")
    log.add(record, {"sxid": code}, device, verdict, detail={"link": number})


def _fatal(log: Log, record: Record, code: int, switch: str, link: int | None) -> None:
    other_end = far_end(log, switch, link)
    if other_end is not None:
        gpu, via = other_end
        log.add(record, {"sxid": code}, gpu, ("fault", "gpu", "isolate"), detail={"link": link}, more={"via": via})
        return
    verdict = ("fault", "nvswitch_domain", "check_fabric")
    log.add(record, {"sxid": code}, switch, verdict, detail={"link": link})
    if link is not None:
        log.gap(f"GPU at the far end of link {link}", "topology_unknown", device=switch)


def far_end(log: Log, switch: str, link: int | None) -> tuple[str, dict[str, Any]] | None:
    """The GPU at the other end of a switch link, and how it was found."""
    for row in map(mapping, sequence(log.context.get("nvlink_topology"))):
        if link is not None and pci(row.get("nvswitch")) == switch and row.get("nvswitch_link") == link:
            gpu = pci(row.get("gpu")) or row.get("uuid")
            if isinstance(gpu, str):
                return gpu, {"nvswitch": switch, "nvswitch_link": link, "gpu_link": row.get("gpu_link")}
    return None
